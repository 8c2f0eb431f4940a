// The limits of a worker: a simulation in which one never takes effect says nothing about it.

/// Something that a worker limits.
public enum Bound: String, CaseIterable, Sendable {
    case watchedUsers = "watched users"
    case joinedConversations = "joined conversations"
    case enteredConversations = "entered conversations"
    case messageRate = "messages a second"
    case lingering = "sessions without a connection"
    case waitingMessages = "waiting messages"
    case showBatch = "states in one piece of a snapshot"
    case tellBatch = "changes told in one tick"
    case readBatch = "users in one read"
    case auditBatch = "sessions in one audit"
    case typingNames = "typists named"
    case outbound = "messages that wait for a slow reader"
}

/// Counts how often each limit took effect.
public struct BoundCounts: Hashable, Sendable {
    public private(set) var counts: [Bound: Int] = [:]

    public init() {}

    mutating func met(_ bound: Bound) { counts[bound, default: 0] += 1 }

    public mutating func add(_ other: BoundCounts) { counts.merge(other.counts) { $0 + $1 } }

    /// The limits that never took effect.
    public var unmet: [Bound] { Bound.allCases.filter { counts[$0] == nil } }
}
