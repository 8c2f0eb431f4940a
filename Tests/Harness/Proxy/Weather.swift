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

/// Which connections of a worker to Redis are meant.
public struct Traffic: OptionSet, Hashable, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    public static let commands = Traffic(rawValue: 1)
    public static let subscribers = Traffic(rawValue: 2)
    public static let all: Traffic = [.commands, .subscribers]
}

/// How a connection is cut.
public enum Cut: Hashable, Sendable {
    /// Each end hears that the other has closed.
    case fin
    /// Each end hears that the connection is void.
    case reset
}
