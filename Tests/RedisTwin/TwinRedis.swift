// The store's twin: Redis as Rollcall uses it, as a value. Each method does what the script of the same call does, in
// one step and to the letter, so that workers can be simulated without a server. The contract test plays the same
// calls against this and against a real Redis, and compares all that can be seen of either.

public import RollcallModel

/// A Redis in memory. A copy is a snapshot: going back to it is what a restored or failed-over Redis does.
///
/// It holds what Rollcall of this version writes; fields and words of other versions are not kept.
public struct TwinRedis: Hashable, Sendable {
    /// What the scripts know of the configuration.
    public struct Settings: Hashable, Sendable {
        /// `presence.retention`.
        public var retention: Duration
        /// `typing.expiry`.
        public var typingExpiry: Duration
        /// `conversations.default`.
        public var openByDefault: Bool

        public init(
            retention: Duration = .seconds(30 * 86_400), typingExpiry: Duration = .seconds(3),
            openByDefault: Bool = true
        ) {
            self.retention = retention
            self.typingExpiry = typingExpiry
            self.openByDefault = openByDefault
        }
    }

    public let settings: Settings
    /// Redis `TIME`. The twin reads no clock: whoever drives it moves this, and keys expire by it.
    public var time: Timestamp
    /// What was published, in order; whoever drives it takes it from here.
    public var published: [Published] = []
    /// Mistakes made on purpose, for which a test must have an eye.
    public var planted: Set<PlantedBug> = []

    /// `presence:{USER}`.
    package internal(set) var presences: [UserID: Expiring<PresenceRecord>] = [:]
    /// `revoked:{USER}`.
    package internal(set) var revocations: [UserID: Expiring<Timestamp>] = [:]
    /// `typing:{CONVERSATION}:USER`: the devices on which the user types, the one that ends last first.
    package internal(set) var typingDevices: [TypingUser: Expiring<[DeviceID]>] = [:]
    /// `typing:{CONVERSATION}`: when each device's typing ends.
    package internal(set) var typingSets: [ConversationID: Expiring<[TypingDevice: Timestamp]>] = [:]
    /// `members:{CONVERSATION}`: the display names, where the conversation is managed.
    package internal(set) var memberNames: [ConversationID: [UserID: String]] = [:]
    /// `{workers}`: the end of each lease.
    package internal(set) var leases: [Incarnation: Timestamp] = [:]
    /// `{workers}:INCARNATION`, of which only the last beat matters to anybody.
    package internal(set) var beats: [Incarnation: Timestamp] = [:]
    /// `worker:{INCARNATION}:sessions`.
    package internal(set) var sessions: [Incarnation: Set<SessionName>] = [:]
    /// `worker:{INCARNATION}:sweeper`.
    package internal(set) var sweepers: [Incarnation: Expiring<Incarnation>] = [:]

    public init(settings: Settings = Settings(), time: Timestamp) {
        self.settings = settings
        self.time = time
    }

    /// `FLUSHALL`, or a start without data: every key is gone. What was published before is on its way regardless.
    public mutating func flush() {
        var empty = TwinRedis(settings: settings, time: time)
        empty.published = published
        empty.planted = planted
        self = empty
    }
}

/// A mistake that the twin can be asked to make, so that a test of the whole shows that it would find it.
public enum PlantedBug: Hashable, Sendable, CaseIterable {
    /// A sweep removes the device without looking whether it still is that incarnation's and that session's.
    case removalWithoutRecheck
    /// A stop ends the user's typing although another of their devices types.
    case stopIgnoresOtherDevices
}

/// What a key holds, and until when.
package struct Expiring<Value: Hashable & Sendable>: Hashable, Sendable {
    package var value: Value
    /// `nil` if it stays.
    package var expires: Timestamp?

    /// The value; `nil` if the key has expired. It is still there in the very millisecond of its expiry.
    package func read(at time: Timestamp) -> Value? {
        expires.map { $0 < time } ?? false ? nil : value
    }
}
