// What one session says again and again, and what it may cost others.

/// One kind of message, sent by one session as fast as it may in the long run.
public struct Nuisance: Sendable, CustomStringConvertible {
    public let description: String
    /// What the most is that a message costs, on average.
    let bound: Bound
    /// How many are sent.
    let count: Int
    let way: Way

    enum Way: Sendable {
        /// The message of a number, without the `id`, and with `USER` for who sends it.
        case message(@Sendable (Int) -> String)
        /// A session of another device of the user's, which ends as soon as it is welcome.
        case session
    }

    /// The most that one message may cost.
    struct Bound: Sendable {
        /// Commands to Redis, those within scripts included.
        var commands: Double
        /// Bytes to each of those who look on, where messages come as fast as they may: what is told once in a while
        /// counts for more of them when they come more slowly.
        var bytes: Double
        /// Bytes to the one who sends.
        var answer: Double
        /// How many times the worker's time for a `ping`.
        var pings: Double
    }

    private init(_ description: String, _ bound: Bound, count: Int = 100, way: Way) {
        (self.description, self.bound, self.count, self.way) = (description, bound, count, way)
    }

    private init(_ description: String, _ bound: Bound, count: Int = 100, message: @escaping @Sendable (Int) -> String)
    {
        self.init(description, bound, count: count, way: .message(message))
    }

    /// How long it takes to send all on a machine with time: fifty a second.
    var usualSeconds: Double { Double(count) / 50 }
}

extension Nuisance {
    static let ping = Nuisance("`ping`", Bound(commands: 1, bytes: 1, answer: 60, pings: 1.01)) { _ in
        #"{"type":"ping"}"#
    }

    public static let toggledState = Nuisance(
        "`state`, toggled", Bound(commands: 2, bytes: 12, answer: 50, pings: 3)
    ) { #"{"type":"state","state":"\#($0.isMultiple(of: 2) ? "idle" : "active")"}"# }

    public static let all = [
        toggledState,
        // Fewer than a user may say at once.
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
            Bound(commands: 80, bytes: 1, answer: 9000, pings: 8)
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
            Bound(commands: 150, bytes: 1, answer: 20000, pings: 12)
        ) {
            #"{"type":"join","conversation":"members","presence":\#($0.isMultiple(of: 2))}"#
        },
    ]

    private static let hundred = (0..<100).map { #""member\#($0)""# }.joined(separator: ",")
}
