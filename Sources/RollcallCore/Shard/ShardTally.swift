// What a shard does, in numbers for those who operate it. They are counted where it happens and read once in a while;
// none of them names anybody.

package import RollcallModel

/// What a shard has done since it began. Each number only grows.
public struct ShardTally: Hashable, Sendable {
    /// Typing signals that clients sent, stops among them.
    public internal(set) var typingSignals = 0
    /// Starts and renewals of them that came within the throttle: deferred, and overtaken by whatever came next.
    public internal(set) var typingThrottled = 0
    /// Starts, renewals and stops that Redis took, and published.
    public internal(set) var typingPublished = 0
    /// How long after the moment of a typing change, by Redis time as this worker reckons it, those who look were told.
    /// Of changes that were held back to be told together it is the oldest.
    package internal(set) var typingDeliveries = Histogram()
    /// Changes that somebody was not sent, since a newer state went out in their place.
    public internal(set) var conflated = 0
    /// Records that the audit has read, and how many of them had to be said again.
    public internal(set) var auditRead = 0
    public internal(set) var auditMended = 0
    /// How often the audit has come round to the first session again.
    public internal(set) var auditRounds = 0

    /// Sessions without a connection that were dropped since there were too many.
    public internal(set) var lingeringDropped = 0

    mutating func typingDelivered(_ change: Timestamp, at time: Timestamp) {
        typingDeliveries.record(time.since(change))
    }
}

// What there is now.
extension Shard {
    /// Sessions that are over or in grace, and whose records are not settled yet.
    public var lingeringSessionCount: Int { sessionKeys.count - openSessionCount }
    /// Conversations that somebody here has joined, or is about to.
    public var roomCount: Int { roomKeys.count }
    /// Users whom somebody here watches.
    public var watchCount: Int { watchKeys.count }
    /// Sessions that are behind, or are being shown what there is.
    public var backlogCount: Int { backlogs.count }
    /// Whether something that a session asked for waits until the session's budgets allow it.
    package func waitsForBudget(_ key: SessionKey) -> Bool {
        guard let session = sessions[key] else { return false }
        if session.held != nil { return !session.isUnproven }
        return session.joined.contains { rooms[$0]?.lobby[key]?.awaitsCredit == true }
    }
    /// How many messages of a session wait to be taken; `nil` if it has no connection any more.
    package func heldMessageCount(of key: SessionKey) -> Int? {
        guard let session = sessions[key], session.isConnected else { return nil }
        return session.held?.count ?? 0
    }
    /// Rooms, members and users that changed, and of which nobody has been told yet.
    public var untoldCount: Int { changedRooms.count + changedMembers.count + changedWatches.count }
    /// Sessions of which Redis does not hold yet what was decided, since the last attempt failed.
    public var unwrittenCount: Int { blocked.count }
}
