// What a network may do to the bytes between two ends.

/// What a proxy does with what passes through it.
public enum Weather: Hashable, Sendable {
    /// All arrives as if there were no proxy.
    case clear
    /// All arrives, in order, this much later.
    case slow(Duration)
    /// Nothing arrives, be it bytes or the end of a connection, until the weather changes; then all of it does.
    case stalled
    /// Nothing arrives, ever.
    case lossy
    /// As ``clear`` for connections that stand; new ones are reset.
    case refusing
}

/// Which connections to Redis, or to one of several servers of it, are meant.
public struct Traffic: OptionSet, Hashable, Sendable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Of workers; two bits each.
    public static let commands = Traffic(rawValue: 0x5555_5555)
    public static let subscribers = Traffic(rawValue: 0xAAAA_AAAA)
    /// Of one worker, `w0` and so on, sixteen at the most.
    public static func worker(_ number: Int) -> Traffic { Traffic(rawValue: 0b11 << (2 * UInt64(number))) }
    /// Of one node of a cluster to another, in the order of their ids; sixteen at the most.
    public static func node(_ number: Int) -> Traffic { Traffic(rawValue: 1 << (32 + UInt64(number))) }
    /// Of everybody else: replicas, sentinels, operators.
    public static let others = Traffic(rawValue: 1 << 63)
    public static let all = Traffic(rawValue: .max)
}

/// How a connection is cut.
public enum Cut: Hashable, Sendable {
    /// Each end hears that the other has closed.
    case fin
    /// Each end hears that the connection is void.
    case reset
}
