// Network faults that a proxy can simulate.

/// What a proxy does with the bytes that pass through it.
public enum Weather: Hashable, Sendable {
    /// Everything is forwarded at once.
    case clear
    /// Everything is forwarded in order, delayed by this much.
    case slow(Duration)
    /// Nothing is forwarded, neither bytes nor the end of a connection, until this setting changes. Then everything is.
    case stalled
    /// All bytes are dropped.
    case lossy
    /// As ``clear`` for open connections; new ones are reset.
    case refusing
}

/// A set of connections to Redis, or to one of several Redis servers.
public struct Traffic: OptionSet, Hashable, Sendable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Connections of workers; each worker has two bits.
    public static let commands = Traffic(rawValue: 0x5555_5555)
    public static let subscribers = Traffic(rawValue: 0xAAAA_AAAA)
    /// Connections of one worker (`w0` and so on, at most 16).
    public static func worker(_ number: Int) -> Traffic { Traffic(rawValue: 0b11 << (2 * UInt64(number))) }
    /// Connections from one cluster node to the others, numbered in the order of the ids; at most 16.
    public static func node(_ number: Int) -> Traffic { Traffic(rawValue: 1 << (32 + UInt64(number))) }
    /// All other connections: of replicas, sentinels and operators.
    public static let others = Traffic(rawValue: 1 << 63)
    public static let all = Traffic(rawValue: .max)
}

/// How a connection is cut.
public enum Cut: Hashable, Sendable {
    /// Both ends receive a FIN.
    case fin
    /// Both ends receive a reset.
    case reset
}
