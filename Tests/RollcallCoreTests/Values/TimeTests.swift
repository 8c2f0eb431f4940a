import RollcallProtocol
import Testing

@testable import RollcallCore

@Suite struct TimeTests {
    @Test("timers fire in order, each subject's earliest only")
    func timers() {
        var timers = Timers<String>()
        timers.remind("b", at: at(.seconds(2)))
        timers.remind("a", at: at(.seconds(3)))
        timers.remind("a", at: at(.seconds(1)))
        timers.remind("b", at: at(.seconds(5)))
        #expect(timers.next == at(.seconds(1)))
        #expect(timers.popDue(at: at(.seconds(1))) == "a")
        #expect(timers.popDue(at: at(.seconds(1))) == nil)
        #expect(timers.popDue(at: at(.seconds(9))) == "b")
        #expect(timers.popDue(at: at(.seconds(9))) == nil)
        #expect(timers.next == nil)
    }

    @Test("distant timers do not outlive their subjects")
    func forgotten() {
        var timers = Timers<Int>()
        for visit in 0..<10_000 {
            timers.remind(visit, at: at(.seconds(2_592_000)))
            timers.remind(visit, at: at(.seconds(5)))
            if visit >= 10 { timers.forget(visit - 10) }
        }
        #expect(timers.count < 100)
        let due = (0..<11).compactMap { _ in timers.popDue(at: at(.seconds(5))) }
        #expect(due.sorted() == Array(9_990..<10_000))
    }

    @Test("a bucket allows its burst at once and its rate in the long run")
    func bucket() {
        var bucket = TokenBucket(rate: 2, burst: 3, now: at(.zero))
        func take(_ tries: Int, at now: Instant) -> Int {
            (0..<tries).count { _ in
                guard bucket.next(at: now) <= now else { return false }
                bucket.take(1, at: now)
                return true
            }
        }
        #expect(take(4, at: at(.zero)) == 3 && bucket.next(at: at(.zero)) == at(.milliseconds(500)))
        #expect(take(2, at: at(.milliseconds(500))) == 1)
        #expect(take(4, at: at(.seconds(60))) == 3)
    }

    @Test("what a bucket lacks is owed, and it takes back what was not used")
    func refund() {
        var bucket = TokenBucket(rate: 2, burst: 3, now: at(.zero))
        for _ in 0..<2 { bucket.take(2, at: at(.zero)) }
        #expect(bucket.next(at: at(.zero)) == at(.seconds(1)))
        bucket.refund(4)
        #expect(bucket.isFull(at: at(.zero)))
        bucket.refund(100)
        bucket.take(3, at: at(.zero))
        #expect(bucket.next(at: at(.zero)) == at(.milliseconds(500)), "no more than the burst")
    }

    @Test("Redis time runs from the moment of the request, in both directions")
    func clock() {
        let clock = RedisClock(time: redis(5000), sent: at(.seconds(1)))
        #expect(clock.time(at: at(.seconds(3))) == redis(7000))
        #expect(clock.instant(of: redis(7000)) == at(.seconds(3)))
    }

    @Test("a clock of Redis that was set is followed")
    func setClock() {
        let clock = RedisClock(time: redis(5000), sent: at(.zero))
        let later = clock.corrected(by: redis(90_000), sent: at(.seconds(1)), at: at(.milliseconds(1002)))
        #expect(later.time(at: at(.seconds(2))) == redis(91_000))
        let earlier = clock.corrected(by: redis(1000), sent: at(.seconds(1)), at: at(.milliseconds(1002)))
        #expect(earlier.time(at: at(.seconds(2))) == redis(2000))
    }

    @Test("extreme published times are clamped, and cause no crash")
    func endsOfTime() {
        let clock = RedisClock(time: redis(5000), sent: at(.zero))
        var typists = TypistSet()
        for time in [Int64.min, 0, Int64.max] {
            for length in [Int64.min, Int64.max] {
                typists.changed(
                    TypingChange(user: "alice", typing: true, expiresIn: length, at: redis(time)), clock: clock,
                    at: at(.zero))
            }
        }
        #expect(clock.instant(of: redis(.max)) > at(.seconds(1_000_000)))
        #expect(clock.instant(of: redis(.min)) < at(.zero))
    }
}
