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
        attempts.failed(.refused(status: 429, retryAfter: .seconds(86_400)), of: 1, at: start, chance: 0)
        #expect(attempts.rest(at: start) == .seconds(3600))
        #expect(attempts.rest(at: start.advanced(by: .seconds(-60))) == .zero, "the clock was set back")
        attempts.delivered()
        #expect(attempts.rest(at: start) == .zero && attempts.failures == 0)
    }

    @Test(
        "a batch is halved down to one event where that may help, and grows again",
        arguments: [
            (DeliveryAttempts.Failure.late, true), (.refused(status: 413, retryAfter: nil), true),
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

    @Test(
        "after ten refusals of one event within an hour the next is tried, and a reset takes its place if that is taken"
    )
    func replaced() throws {
        var attempts = DeliveryAttempts()
        let refused = DeliveryAttempts.Failure.refused(status: 400, retryAfter: nil)
        _ = fail(&attempts, refused, times: 6)
        #expect(attempts.size == 1 && !attempts.isOtherDue, "it was never alone")
        _ = fail(&attempts, refused, times: 9)
        #expect(!attempts.isOtherDue)
        let time = fail(&attempts, refused, times: 1)
        #expect(attempts.isOtherDue && time.since(start) < .seconds(1200))
        let first = EventID(milliseconds: 7, number: 1)
        attempts.otherTried(wasTaken: false, instead: first)
        #expect(!attempts.isOtherDue && attempts.replaced == nil, "it is not this event")
        _ = fail(&attempts, refused, times: 10)
        attempts.otherTried(wasTaken: true, instead: first)
        #expect(attempts.replaced == first && attempts.rest(at: time) == .zero)
        attempts.delivered()
        #expect(attempts.replaced == nil)
        // Rarely refused, or for another reason.
        _ = fail(&attempts, .refused(status: 500, retryAfter: .seconds(600)), times: 20, of: 1)
        #expect(!attempts.isOtherDue)
        _ = fail(&attempts, .late, times: 20, of: 1)
        #expect(!attempts.isOtherDue)
    }

    @Test("the next deliverer goes on where the last one was, and anything else under that name counts as nothing")
    func stored() {
        var attempts = DeliveryAttempts()
        #expect(DeliveryAttempts(ByteString(attempts.text)) == attempts)
        _ = fail(&attempts, .refused(status: 400, retryAfter: nil), times: 17)
        attempts.otherTried(wasTaken: true, instead: EventID(milliseconds: 7, number: 1))
        #expect(DeliveryAttempts(ByteString(attempts.text)) == attempts)
        for text in ["", "1", "1 2 3 4 5", "-1 2 3 4 5 -", "a b c d e f", "1 2 3 4 5 6 7"] {
            #expect(DeliveryAttempts(ByteString(text)) == DeliveryAttempts(), "\(text)")
        }
        #expect(DeliveryAttempts("9999999999999999999 1 1 1 1 -") == DeliveryAttempts())
        #expect(DeliveryAttempts("1 1 0 1 1 -").size == 1 && DeliveryAttempts("1 1 1000 1 1 -").size == 99)
    }
}
