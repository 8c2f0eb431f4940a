// Counters and gauges of a shard, for operators. They are updated where things happen and read at intervals. None of
// them names a user.

package import RollcallProtocol

/// What a shard has done since it started. The numbers only grow.
public struct ShardTally: Hashable, Sendable {
    /// Messages sent to connections.
    package private(set) var sent = Counts<MessageKind>()
    /// Messages to connections that had ended.
    package private(set) var dropped = 0
    /// Typing signals from clients, including stops.
    public internal(set) var typingSignals = 0
    /// Starts and renewals that the throttle deferred.
    public internal(set) var typingThrottled = 0
    /// Starts, renewals and stops that Redis accepted and published.
    public internal(set) var typingPublished = 0
    /// The delay from a typing change, by estimated Redis time, until sessions here were sent it. For changes sent
    /// together, the oldest one counts.
    package internal(set) var typingDeliveries = Histogram()
    /// Changes that a session was not sent because a newer state replaced them.
    public internal(set) var conflated = 0
    /// Records that the audit has read, and how many of them had to be written again.
    public internal(set) var auditRead = 0
    public internal(set) var auditMended = 0
    /// How often the audit has returned to the first session.
    public internal(set) var auditRounds = 0

    /// Sessions without a connection that were dropped because there were too many.
    public internal(set) var lingeringDropped = 0

    mutating func delivered(_ message: ServerMessage, to receivers: Int, of all: Int) {
        sent.count(MessageKind(message), times: receivers)
        dropped += all - receivers
    }

    mutating func typingDelivered(_ change: Timestamp, at time: Timestamp) {
        typingDeliveries.record(time.since(change))
    }
}

/// The type of a message to a client: values of a metric label.
public enum MessageKind: String, CaseIterable, Sendable {
    case welcome, presence, typing, members, here, removed, person, pong, ack, error, goodbye

    init(_ message: ServerMessage) {
        self =
            switch message {
            case .welcome: .welcome
            case .presence: .presence
            case .typing: .typing
            case .members: .members
            case .here: .here
            case .removed: .removed
            case .person: .person
            case .pong: .pong
            case .ack: .ack
            case .error: .error
            case .goodbye: .goodbye
            }
    }
}
