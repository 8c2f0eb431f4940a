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
        /// `worker.lease`, beyond which no write deadline lies; `nil` where deadlines are those of no lease.
        public var lease: Duration?

        public init(
            retention: Duration = .seconds(30 * 86_400), typingExpiry: Duration = .seconds(3),
            openByDefault: Bool = true, lease: Duration? = nil
        ) {
            self.retention = retention
            self.typingExpiry = typingExpiry
            self.openByDefault = openByDefault
            self.lease = lease
        }
    }

    public let settings: Settings
    /// Redis `TIME`. The twin reads no clock: whoever drives it moves this, and keys expire by it.
    public var time: Timestamp
    /// The clock of the workers' hosts, by which they judge tokens; `nil` where it is that of Redis.
    public var hostTime: Timestamp?
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
    package internal(set) var sweepers: [Incarnation: Expiring<SweepClaim>] = [:]

    public init(settings: Settings = Settings(), time: Timestamp) {
        self.settings = settings
        self.time = time
    }

    /// Redis's clock is set, by how much it says: keys that have expired by it are gone, whatever it is set to next.
    public mutating func setClock(by step: Duration) {
        dropExpired()
        time = time.advanced(by: step)
        dropExpired()
    }

    private mutating func dropExpired() {
        presences = presences.filter { $0.value.read(at: time) != nil }
        revocations = revocations.filter { $0.value.read(at: time) != nil }
        typingDevices = typingDevices.filter { $0.value.read(at: time) != nil }
        typingSets = typingSets.filter { $0.value.read(at: time) != nil }
        sweepers = sweepers.filter { $0.value.read(at: time) != nil }
    }

    /// `FLUSHALL`, or a start without data: every key is gone. What was published before is on its way regardless.
    public mutating func flush() {
        var empty = TwinRedis(settings: settings, time: time)
        empty.hostTime = hostTime
        empty.published = published
        empty.planted = planted
        self = empty
    }

    /// A moment that lies ahead of the clock was stored before the clock was set back, and is read as now.
    func notAhead(_ moment: Timestamp) -> Timestamp { min(moment, time) }

    /// Whether a write comes too late for its deadline, or has one of before the clock was set back.
    func isTooLate(_ deadline: Timestamp) -> Bool {
        time > deadline || settings.lease.map { deadline > time.advanced(by: $0) } ?? false
    }
}

/// A mistake that the twin can be asked to make, so that a test of the whole shows that it would find it.
public enum PlantedBug: Hashable, Sendable, CaseIterable {
    /// A sweep removes the device without looking whether it still is that incarnation's and that session's.
    case removalWithoutRecheck
    /// A stop ends the user's typing although another of their devices types.
    case stopIgnoresOtherDevices
    /// The order of sessions goes by the clock alone, whatever was stored before it was set back.
    case ordersByClock
    /// Leases stay as they are when the clock is set back.
    case leasesIgnoreSteps
    /// What was stored of typing before the clock was set back counts until its expiry.
    case futureTypingCounts
    /// A revocation is dated by this clock, and not by that of hosts.
    case revokesByRedisClock
    /// Observers are shown the record's version, which background devices move.
    case showsBackground
}

/// What `worker:{INCARNATION}:sweeper` says: who sweeps, and since when.
package struct SweepClaim: Hashable, Sendable {
    package var holder: Incarnation
    package var since: Timestamp
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
