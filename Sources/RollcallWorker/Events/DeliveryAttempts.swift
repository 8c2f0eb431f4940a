// When the webhook is tried next, with how many events, and what becomes of an event that it never takes. The deliverer notes
// this in Redis, so that the next one goes on where it was.

import RollcallProtocol

/// The attempts to deliver what is behind a position.
struct DeliveryAttempts: Hashable, Sendable {
    /// How an attempt failed.
    enum Failure: Hashable, Sendable {
        /// The status was not 2xx; with the pause that the answer asks for.
        case refused(status: Int, retryAfter: Duration?)
        /// There was no answer in time.
        case late
        case unreachable

        /// Whether fewer events, or others, may be taken: not if the answer is about the caller, the address or the pace.
        var isAboutEvents: Bool {
            switch self {
            case .refused(let status, _):
                status >= 500 || status >= 400 && ![401, 403, 404, 408, 410, 425, 429].contains(status)
            case .late: true
            case .unreachable: false
            }
        }
    }

    /// The most entries in one delivery, to which a reset may be added.
    static let most = 99
    /// The longest pause after failures, each of which doubles it; and the longest that an answer may ask for.
    private static let longest = Duration.seconds(60), longestAsked = Duration.seconds(3600)
    /// How often, and within what time, one event alone is refused before the one behind it is tried.
    private static let patience = 10, window = Duration.seconds(3600)

    /// Failed attempts in a row.
    private(set) var failures = 0
    /// When the next one is due, by Redis's clock.
    private(set) var next = Timestamp(milliseconds: 0)
    /// How many entries it may have.
    private(set) var size = DeliveryAttempts.most
    /// How often the first event was refused alone, and since when.
    private var refusals = 0
    private var refusedSince = Timestamp(milliseconds: 0)
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
    ///   - chance: from 0 to 1.
    mutating func failed(_ failure: Failure, of count: Int, at time: Timestamp, chance: Double) {
        var pause = min(Self.longest, .seconds(1) * (1 << min(failures, 6))) * (0.75 + chance / 4)
        failures += 1
        if case .refused(_, let asked?) = failure { pause = max(pause, min(asked, Self.longestAsked)) }
        next = time.advanced(by: pause)
        guard failure.isAboutEvents else { return }
        if count == 1, case .refused = failure {
            if refusals == 0 || time.since(refusedSince) > Self.window { (refusals, refusedSince) = (0, time) }
            refusals += 1
        }
        size = max(1, min(size, count) / 2)
    }

    /// Handles that the event behind the first one was tried.
    mutating func otherTried(wasTaken: Bool, instead first: EventID) {
        refusals = 0
        if wasTaken { (replaced, failures, next) = (first, 0, Timestamp(milliseconds: 0)) }
    }
}

// MARK: In Redis

extension DeliveryAttempts {
    private init(size: Int) { self.size = size }

    /// The field `attempts` of `events:state`.
    var text: String {
        "\(failures) \(next.milliseconds) \(size) \(refusals) \(refusedSince.milliseconds) \(replaced.map { "\($0)" } ?? "-")"
    }

    /// - Parameter text: anything but what ``text`` gives counts as none.
    init(_ text: ByteString) {
        let words = text.utf8.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
        let numbers = words.prefix(5).compactMap { Int64($0) }
        guard words.count == 6, numbers.count == 5, numbers.allSatisfy({ $0 >= 0 }) else { return }
        (failures, next) = (Int(clamping: numbers[0]), Timestamp(milliseconds: numbers[1]))
        size = min(Self.most, max(1, Int(clamping: numbers[2])))
        (refusals, refusedSince) = (Int(clamping: numbers[3]), Timestamp(milliseconds: numbers[4]))
        replaced = EventID(words[5])
    }
}
