// When a webhook is tried again, with how much, and when an event is passed over.

import Testing

@testable import RollcallProtocol
@testable import RollcallWorker

@Suite struct DeliveryAttemptsTests {
    private let start = Timestamp(milliseconds: 1_790_000_000_000)

    /// Fails this often, each time when it is due; returns the time of the last one.
    private func fail(
        _ attempts: inout DeliveryAttempts, _ failure: DeliveryAttempts.Failure, times: Int, of count: Int? = nil
    ) -> Timestamp {
        var time = start
        for _ in 0..<times {
            time = max(time, attempts.next)
            attempts.failed(failure, of: count ?? attempts.size, at: time, chance: 1)
        }
        return time
    }

    @Test("the pauses grow to a minute, and an answer may ask for up to an hour")
    func pauses() {
        var attempts = DeliveryAttempts()
        for seconds in [1, 2, 4, 8, 16, 32, 60, 60] {
            attempts.failed(.unreachable, of: 1, at: start, chance: 1)
            #expect(attempts.rest(at: start) == .seconds(seconds))
        }
        attempts.failed(.refused(status: 429, retryAfter: .seconds(120)), of: 1, at: start, chance: 0)
        #expect(attempts.rest(at: start) == .seconds(120))
        attempts.failed(.refused(status: 500, retryAfter: .seconds(86_400)), of: 50, at: start, chance: 0)
        #expect(attempts.rest(at: start) == .seconds(3600))
        #expect(attempts.rest(at: start.advanced(by: .seconds(-60))) == .zero, "the clock was set back")
        attempts.delivered()
        #expect(attempts.rest(at: start) == .zero && attempts.failures == 0)
    }

    @Test(
        "a batch is halved down to one event where that may help, and grows again",
        arguments: [
            (DeliveryAttempts.Failure.unanswered, true), (.refused(status: 413, retryAfter: nil), true),
            (.refused(status: 400, retryAfter: nil), true), (.refused(status: 500, retryAfter: nil), true),
            (.refused(status: 429, retryAfter: nil), false), (.refused(status: 401, retryAfter: nil), false),
            (.refused(status: 302, retryAfter: nil), false), (.unreachable, false),
        ])
    func sizes(failure: DeliveryAttempts.Failure, isHalved: Bool) {
        var attempts = DeliveryAttempts()
        var sizes: [Int] = []
        for _ in 0..<8 {
            attempts.failed(failure, of: attempts.size, at: start, chance: 1)
            sizes.append(attempts.size)
        }
        #expect(sizes == (isHalved ? [49, 24, 12, 6, 3, 1, 1, 1] : Array(repeating: 99, count: 8)))
        attempts.delivered()
        #expect(attempts.size == (isHalved ? 2 : 99))
        for _ in 0..<10 { attempts.delivered() }
        #expect(attempts.size == 99)
    }

    /// What a receiver does with events: numbers from 0.
    private struct Receiver: CustomTestStringConvertible {
        var testDescription: String
        /// How it fails, and after how long; `nil` if it takes them.
        var judge: @Sendable (_ events: [Int], _ second: Double) -> (DeliveryAttempts.Failure, after: Duration)?
        var resets: Set<Int> = []
    }

    private static let receivers = [
        Receiver(
            testDescription: "it dies of one",
            judge: { events, _ in events.contains(137) ? (.unanswered, .zero) : nil }, resets: [137]),
        Receiver(
            testDescription: "it hangs on one",
            judge: { events, _ in events.contains(137) ? (.unanswered, .seconds(5)) : nil }, resets: [137]),
        Receiver(
            testDescription: "it refuses one",
            judge: { events, _ in events.contains(137) ? (.refused(status: 400, retryAfter: nil), .zero) : nil },
            resets: [137]),
        Receiver(
            testDescription: "it dies above twenty",
            judge: { events, _ in events.count > 20 ? (.unanswered, .zero) : nil }),
    ]

    /// Delivers events in virtual time, as the deliverer does; returns what was taken, what was reset, and when it was done.
    private func deliver(_ count: Int, to receiver: Receiver, within limit: Duration) -> (
        taken: [Int], resets: Set<Int>, took: Duration
    ) {
        var (attempts, time, first) = (DeliveryAttempts(), start, 0)
        var (taken, resets): ([Int], Set<Int>) = ([], [])
        while first < count, time.since(start) < limit {
            let batch = Array(first..<min(count, first + attempts.size))
            func fails(_ events: [Int]) -> (DeliveryAttempts.Failure, after: Duration)? {
                receiver.judge(
                    events.filter { attempts.replaced?.number != UInt64($0) }, time.since(start) / .seconds(1))
            }
            guard let (failure, after) = fails(batch) else {
                for event in batch {
                    if attempts.replaced?.number == UInt64(event) { resets.insert(event) } else { taken.append(event) }
                }
                first += batch.count
                attempts.delivered()
                continue
            }
            attempts.failed(failure, of: batch.count, at: time, chance: 1)
            time = time.advanced(by: after)
            if attempts.isOtherDue, first + 1 < count {
                let other = fails([first + 1])
                time = time.advanced(by: other?.after ?? .zero)
                attempts.otherTried(wasTaken: other == nil, instead: EventID(milliseconds: 7, number: UInt64(first)))
            }
            time = max(time, attempts.next)
        }
        return (taken, resets, time.since(start))
    }

    @Test("whoever dies of one event, hangs on it or takes few at a time has all within 120 s", arguments: receivers)
    private func served(receiver: Receiver) {
        let (taken, resets, took) = deliver(300, to: receiver, within: .seconds(600))
        #expect(resets == receiver.resets && taken == (0..<300).filter { !resets.contains($0) })
        #expect(took < .seconds(120))
    }

    @Test("whoever is down for an hour loses nothing, and has all within a minute")
    func down() {
        for failure in [DeliveryAttempts.Failure.unanswered, .unreachable, .refused(status: 502, retryAfter: nil)] {
            let receiver = Receiver(testDescription: "") { _, second in second < 3600 ? (failure, .seconds(1)) : nil }
            let (taken, resets, took) = deliver(300, to: receiver, within: .seconds(4000))
            #expect(taken == Array(0..<300) && resets.isEmpty && took < .seconds(3670), "\(failure)")
        }
    }

    @Test("after ten failures of one event alone the next is tried, and a reset takes its place if that is taken")
    func replaced() throws {
        var attempts = DeliveryAttempts()
        let refused = DeliveryAttempts.Failure.refused(status: 400, retryAfter: nil)
        _ = fail(&attempts, refused, times: 6)
        #expect(attempts.size == 1 && !attempts.isOtherDue, "it was never alone")
        _ = fail(&attempts, refused, times: 9)
        #expect(!attempts.isOtherDue)
        let time = fail(&attempts, refused, times: 1)
        #expect(attempts.isOtherDue)
        let first = EventID(milliseconds: 7, number: 1)
        attempts.otherTried(wasTaken: false, instead: first)
        #expect(attempts.replaced == nil, "it is not this event")
        _ = fail(&attempts, refused, times: 1)
        attempts.otherTried(wasTaken: true, instead: first)
        #expect(attempts.replaced == first && attempts.rest(at: time) == .zero && !attempts.isOtherDue)
        attempts.delivered()
        #expect(attempts.replaced == nil)
        // For another reason.
        _ = fail(&attempts, .unreachable, times: 20, of: 1)
        _ = fail(&attempts, .refused(status: 503, retryAfter: nil), times: 20, of: 2)
        #expect(!attempts.isOtherDue)
    }

    @Test("the next deliverer goes on where the last one was, and anything else under that name counts as nothing")
    func stored() {
        var attempts = DeliveryAttempts()
        #expect(DeliveryAttempts(ByteString(attempts.text)) == attempts)
        _ = fail(&attempts, .refused(status: 400, retryAfter: nil), times: 17)
        attempts.otherTried(wasTaken: true, instead: EventID(milliseconds: 7, number: 1))
        #expect(DeliveryAttempts(ByteString(attempts.text)) == attempts)
        for text in ["", "1", "1 2 3 4", "-1 2 3 4 -", "a b c d e", "1 2 3 4 5 6"] {
            #expect(DeliveryAttempts(ByteString(text)) == DeliveryAttempts(), "\(text)")
        }
        #expect(DeliveryAttempts("1 1 0 1 -").size == 1 && DeliveryAttempts("1 1 1000 1 -").size == 99)
    }

    /// Regression: one field in Redis ended every worker that delivered.
    @Test(
        "whatever the field says, nothing overflows", arguments: ["9223372036854775807", "99999999999999999999", "0"])
    func bounded(number: String) {
        for place in 0..<4 {
            var words = Array(repeating: "1", count: 4) + ["-"]
            words[place] = number
            var attempts = DeliveryAttempts(ByteString(words.joined(separator: " ")))
            for failure in [DeliveryAttempts.Failure.unanswered, .unreachable, .refused(status: 500, retryAfter: nil)] {
                attempts.failed(failure, of: 1, at: start, chance: 1)
                #expect(attempts.rest(at: start) <= .seconds(60))
            }
            attempts.delivered()
            #expect(attempts.size >= 2)
        }
    }
}
