// Messages that one session repeats, and what they may cost.

/// One kind of message, sent by one session as fast as is allowed in the long run.
public struct Nuisance: Sendable, CustomStringConvertible {
    public let description: String
    /// The most that one message may cost on average.
    let bound: Bound
    /// The number of messages.
    let count: Int
    let way: Way

    enum Way: Sendable {
        /// The message with this number, without the `id`; `USER` stands for the sender.
        case message(@Sendable (Int) -> String)
        /// A session of another device of the user, which ends as soon as it is welcomed.
        case session
    }

    /// The most that one message may cost.
    struct Bound: Sendable {
        /// Commands to Redis, including those within scripts.
        var commands: Double
        /// Bytes to each observer, while messages arrive as fast as allowed. At a slower rate, each message has a
        /// larger share of updates that are sent at intervals.
        var bytes: Double
        /// Bytes to the sender.
        var answer: Double
        /// As a multiple of the worker's time for a `ping`.
        var pings: Double
    }

    private init(_ description: String, _ bound: Bound, count: Int = 100, way: Way) {
        (self.description, self.bound, self.count, self.way) = (description, bound, count, way)
    }

    private init(_ description: String, _ bound: Bound, count: Int = 100, message: @escaping @Sendable (Int) -> String)
    {
        self.init(description, bound, count: count, way: .message(message))
    }

    /// The time that sending takes if the machine is not busy: 50 messages per second.
    var usualSeconds: Double { Double(count) / 50 }
}

extension Nuisance {
    static let ping = Nuisance("`ping`", Bound(commands: 1, bytes: 1, answer: 60, pings: 1.01)) { _ in
        #"{"type":"ping"}"#
    }

    public static let toggledState = Nuisance(
        "`state`, toggled", Bound(commands: 2, bytes: 18, answer: 50, pings: 3)
    ) { #"{"type":"state","state":"\#($0.isMultiple(of: 2) ? "idle" : "active")"}"# }

    public static let all = [
        toggledState,
        // Fewer than the number of sessions that a user may start at once.
        Nuisance(
            "`hello` and `goodbye`", Bound(commands: 20, bytes: 12, answer: 10, pings: 12), count: 50, way: .session),
        Nuisance("`token`", Bound(commands: 1, bytes: 1, answer: 60, pings: 5), count: 20) { _ in
            #"{"type":"token","token":"USER"}"#
        },
        Nuisance("`typing`, `leave` and `join`", Bound(commands: 8, bytes: 12, answer: 300, pings: 6)) {
            switch $0 % 3 {
            case 0: #"{"type":"typing","conversation":"members","typing":true}"#
            case 1: #"{"type":"leave","conversation":"members"}"#
            default: #"{"type":"join","conversation":"members"}"#
            }
        },
        Nuisance("`typing`, toggled", Bound(commands: 2, bytes: 12, answer: 50, pings: 4)) {
            #"{"type":"typing","conversation":"members","typing":\#($0.isMultiple(of: 2))}"#
        },
        Nuisance(
            "`watch` and `unwatch` of 100",
            Bound(commands: 225, bytes: 1, answer: 9000, pings: 8)
        ) {
            #"{"type":"\#($0.isMultiple(of: 2) ? "watch" : "unwatch")","users":[\#(hundred)]}"#
        },
        Nuisance("`get` of 100", Bound(commands: 110, bytes: 1, answer: 14000, pings: 6)) {
            _ in
            #"{"type":"get","users":[\#(hundred)]}"#
        },
        Nuisance("`join` and `leave`", Bound(commands: 6, bytes: 1, answer: 120, pings: 5)) {
            #"{"type":"\#($0.isMultiple(of: 2) ? "join" : "leave")","conversation":"another"}"#
        },
        Nuisance(
            "`join` of 200 members, with presence and without",
            Bound(commands: 380, bytes: 1, answer: 14000, pings: 12)
        ) {
            #"{"type":"join","conversation":"members","presence":\#($0.isMultiple(of: 2))}"#
        },
    ]

    private static let hundred = (0..<100).map { #""member\#($0)""# }.joined(separator: ",")
}
