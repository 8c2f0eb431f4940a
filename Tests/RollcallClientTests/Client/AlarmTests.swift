// Deadlines are met although they move, and although timers do not run while the machine sleeps.

import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import TestSupport
import Testing

@testable import RollcallClient

@Suite struct AlarmTests {
    private let start = ContinuousClock.now
    private let loop = EmbeddedEventLoop()
    private let slept = NIOLockedValueBox(Duration.zero)
    private let rings = NIOLockedValueBox<[Duration]>([])
    private let timers = NIOLockedValueBox(0)

    private func alarm() -> Alarm {
        let clock = SteadyClock { [start, loop, slept] in
            start + .nanoseconds(Int64(loop.now.uptimeNanoseconds)) + slept.withLockedValue { $0 }
        } note: { [timers] _ in
            timers.withLockedValue { $0 += 1 }
        }
        return Alarm(on: loop, by: clock) { [rings, start] in
            rings.withLockedValue { $0.append(clock.now - start) }
        }
    }

    private func sleep(_ seconds: Int) { slept.withLockedValue { $0 += .seconds(seconds) } }
    private func pass(_ seconds: Int64) { loop.advanceTime(by: .seconds(seconds)) }

    @Test("a deadline that moves later needs no timer, one that moves earlier is met")
    func moved() {
        let alarm = alarm()
        for second in 0..<10 {
            alarm.set(start + .seconds(22 + second))
            pass(1)
        }
        #expect(timers.withLockedValue { $0 } == 1)
        alarm.set(start + .seconds(15))
        pass(5)
        #expect(rings.withLockedValue { $0 } == [.seconds(15)])
        pass(60)
        #expect(rings.withLockedValue { $0.count } == 1)
    }

    /// Regression: an option of `.seconds(.max)` crashed the client when it connected.
    @Test("a deadline beyond what the event loop can express is a long wait, and can be replaced")
    func farAway() {
        let alarm = alarm()
        alarm.set(start + .seconds(Int64.max) + .seconds(22))
        pass(60)
        #expect(rings.withLockedValue { $0.isEmpty })
        alarm.set(start + .seconds(70))
        pass(10)
        #expect(rings.withLockedValue { $0 } == [.seconds(70)])
    }

    @Test("a deadline set after sleep is met, although an earlier timer is still set", arguments: [10, 3600])
    func asleep(seconds: Int) {
        for wait in [3, 15] {
            let alarm = alarm()
            let begun = Duration.nanoseconds(Int64(loop.now.uptimeNanoseconds)) + slept.withLockedValue { $0 }
            alarm.set(start + begun + .seconds(22))
            pass(1)
            sleep(seconds)
            let due = begun + .seconds(1 + seconds + wait)
            alarm.set(start + due)
            pass(Int64(wait))
            #expect(rings.withLockedValue { $0.last } == due)
        }
    }
}
