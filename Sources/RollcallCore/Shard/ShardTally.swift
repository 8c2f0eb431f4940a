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

// Current values.
extension Shard {
    /// Sessions that have a connection, welcomed or not.
    public var connectionCount: Int { sessions.count - sessions.lingeringCount }
    /// Sessions that have ended or are in their grace period, and whose records are not settled yet.
    public var lingeringSessionCount: Int { sessions.lingeringCount }
    /// Conversations that sessions here have joined, or are joining.
    public var roomCount: Int { rooms.count }
    /// Users that sessions here watch.
    public var watchCount: Int { watches.count }
    /// Sessions that are behind, or are being sent a snapshot.
    public var backlogCount: Int { fanOut.pendingCount }
    /// Whether messages of a session wait for the budget of its user.
    package func waitsForBudget(_ session: Session) -> Bool {
        session.held != nil && !session.isUnproven
    }
    /// The number of messages of a session that wait to be processed; `nil` if it has no connection.
    package func heldMessageCount(of session: Session) -> Int? {
        guard session.isConnected else { return nil }
        return session.held?.count ?? 0
    }
    /// Rooms, member lists and users with changes that were not sent yet.
    public var untoldCount: Int { fanOut.changeCount }
    /// Sessions whose last decision is not in Redis because the last attempt failed.
    public var unwrittenCount: Int { repairs.blockedCount }
}

/// The type of a message to a client: values of a metric label.
public enum MessageKind: String, CaseIterable, Sendable {
    case welcome, presence, typing, members, removed, pong, ack, error, goodbye

    init(_ message: ServerMessage) {
        self =
            switch message {
            case .welcome: .welcome
            case .presence: .presence
            case .typing: .typing
            case .members: .members
            case .removed: .removed
            case .pong: .pong
            case .ack: .ack
            case .error: .error
            case .goodbye: .goodbye
            }
    }
}
