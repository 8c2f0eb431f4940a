// When the webhook is tried next, with how many events, and what becomes of an event that it never takes. The deliverer notes
// this in Redis, so that the next one goes on where it was.

import RollcallProtocol

/// The attempts to deliver what is behind a position.
struct DeliveryAttempts: Hashable, Sendable {
    /// How an attempt failed.
    enum Failure: Hashable, Sendable {
        /// The status was not 2xx; with the pause that the answer asks for.
        case refused(status: Int, retryAfter: Duration?)
        /// The request was sent, and there was no complete answer: none in time, or the connection ended.
        case unanswered
        /// The request could not be sent.
        case unreachable

        /// Whether fewer events, or others, may be taken: not if the answer is about the caller, the address or the pace.
        var isAboutEvents: Bool {
            switch self {
            case .refused(let status, _):
                status >= 500 || status >= 400 && ![401, 403, 404, 408, 410, 425, 429].contains(status)
            case .unanswered: true
            case .unreachable: false
            }
        }
    }

    /// The most entries in one delivery, to which a reset may be added.
    static let most = 99
    /// The longest pause between attempts, each of which doubles it; and the longest that an answer may ask for.
    private static let longest = Duration.seconds(60), longestAsked = Duration.seconds(3600)
    /// How often one event alone fails before the one behind it is tried, and the longest pause until then: all within 60 s, unless
    /// the receiver's time limits are long.
    private static let patience = 10, lonePause = Duration.seconds(6)

    /// Failed attempts in a row.
    private(set) var failures = 0
    /// When the next one is due, by Redis's clock.
    private(set) var next = Timestamp(milliseconds: 0)
    /// How many entries it may have.
    private(set) var size = DeliveryAttempts.most
    /// How often the first event failed alone.
    private var refusals = 0
    /// The event in whose place a reset is delivered.
    private(set) var replaced: EventID?

    init() {}

    /// Whether the event behind the first one is to be tried, out of turn.
    var isOtherDue: Bool { refusals >= Self.patience }

    /// The time until the next attempt. A moment too far ahead is from before Redis's clock was set back.
    func rest(at time: Timestamp) -> Duration {
        let rest = next.since(time)
        return rest <= Self.longestAsked ? max(.zero, rest) : .zero
    }

    mutating func delivered() {
        self = DeliveryAttempts(size: min(Self.most, size * 2))
    }

    /// - Parameters:
    ///   - count: how many entries the attempt had.
    ///   - time: when it began: a receiver that hangs has had its pause.
    ///   - chance: from 0 to 1.
    mutating func failed(_ failure: Failure, of count: Int, at time: Timestamp, chance: Double) {
        var pause = min(Self.longest, .seconds(1) * (1 << min(failures, 6)))
        failures = min(failures + 1, Self.mostCounted)
        if failure.isAboutEvents {
            if count == 1 { refusals = min(refusals + 1, Self.mostCounted) }
            pause = min(pause, count > 1 ? .seconds(1) : isOtherDue ? pause : Self.lonePause)
            size = max(1, min(size, count) / 2)
        }
        pause = pause * (0.75 + chance / 4)
        if case .refused(_, let asked?) = failure { pause = max(pause, min(asked, Self.longestAsked)) }
        next = time.advanced(by: pause)
    }

    /// Handles that the event behind the first one was tried. If it is not taken either, the fault is not in the first: it goes on,
    /// and with each failure of the first the other is tried again.
    mutating func otherTried(wasTaken: Bool, instead first: EventID) {
        if wasTaken { (replaced, failures, refusals, next) = (first, 0, 0, Timestamp(milliseconds: 0)) }
    }
}

// MARK: In Redis

extension DeliveryAttempts {
    /// Where counting ends: only the first few make a difference.
    private static let mostCounted = 1000

    private init(size: Int) { self.size = size }

    /// The field `attempts` of `events:state`.
    var text: String {
        "\(failures) \(next.milliseconds) \(size) \(refusals) \(replaced.map { "\($0)" } ?? "-")"
    }

    /// - Parameter text: anything but what ``text`` gives counts as none.
    init(_ text: ByteString) {
        let words = text.parts(at: " ")
        let numbers = words.prefix(4).compactMap { Int64(decimal: $0) }
        guard words.count == 5, numbers.count == 4, numbers.allSatisfy({ $0 >= 0 }) else { return }
        failures = min(Int(numbers[0]), Self.mostCounted)
        next = Timestamp(milliseconds: numbers[1])
        size = min(Self.most, max(1, Int(numbers[2])))
        refusals = min(Int(numbers[3]), Self.mostCounted)
        replaced = EventID(words[4])
    }
}
