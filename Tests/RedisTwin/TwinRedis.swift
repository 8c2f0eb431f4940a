// An in-memory twin of Redis as Rollcall uses it, as a value. Each method does exactly what its script does, in one
// step, so that workers can be simulated without a server. The contract test runs the same calls against this and a
// real Redis, and compares every visible result.

public import RollcallProtocol

/// A Redis in memory. A copy is a snapshot; restoring it simulates a restored or failed-over Redis.
///
/// It stores what this version of Rollcall writes. Fields and words of other versions are dropped.
public struct TwinRedis: Hashable, Sendable {
    /// The configuration that the scripts receive.
    public struct Settings: Hashable, Sendable {
        /// `presence.retention`.
        public var retention: Duration
        /// `typing.expiry`.
        public var typingExpiry: Duration
        /// `events.enabled`. The twin keeps all of them.
        public var appendsEvents: Bool

        public init(
            retention: Duration = .seconds(30 * 86_400), typingExpiry: Duration = .seconds(3),
            appendsEvents: Bool = false
        ) {
            self.retention = retention
            self.typingExpiry = typingExpiry
            self.appendsEvents = appendsEvents
        }
    }

    public let settings: Settings
    /// Redis `TIME`. The twin reads no clock: the test sets this, and keys expire by it.
    public var time: Timestamp
    /// The clock of the workers' hosts, which they use for tokens; `nil` if it equals Redis's.
    public var hostTime: Timestamp?
    /// Published messages, in order. The test removes them.
    public var published: [Published] = []
    /// The life of the server's process: changes with each restart and failover.
    public var run = 0
    /// Deliberate bugs that tests must detect.
    public var planted: Set<PlantedBug> = []

    /// The field `reset` of `presence:{USER}`, of records that have it.
    package internal(set) var knownReset: [UserID: Int64] = [:]
    /// The field `named` of `presence:{USER}`.
    package internal(set) var named: [UserID: Timestamp] = [:]
    /// `presence:{USER}`.
    package internal(set) var presences: [UserID: Expiring<PresenceRecord>] = [:]
    /// `person:{USER}`.
    package internal(set) var persons: [UserID: Person] = [:]
    /// `revoked:{USER}`.
    package internal(set) var revocations: [UserID: Expiring<Timestamp>] = [:]
    /// `typing:{CONVERSATION}:USER`: where the user types, the device that expires last first, and as who.
    package internal(set) var typingUsers: [TypingUser: Expiring<TwinTyping>] = [:]
    /// `typing:{CONVERSATION}`: when each device's typing expires.
    package internal(set) var typingSets: [ConversationID: Expiring<[TypingDevice: Timestamp]>] = [:]
    /// `members:{CONVERSATION}`: the display names, if the conversation is managed.
    package internal(set) var memberNames: [ConversationID: [UserID: String]] = [:]
    /// `access:{CONVERSATION}` and `access:{CONVERSATION}:people`.
    var access: [ConversationID: Expiring<TwinAccess>] = [:]
    var accessPeople: [ConversationID: Expiring<[UserID]>] = [:]
    /// `here:{CONVERSATION}` and `here:{CONVERSATION}:since`.
    package internal(set) var here: [ConversationID: [UserID: TwinHere]] = [:]
    /// `{workers}`: the end of each lease.
    package internal(set) var leases: [Incarnation: Timestamp] = [:]
    /// `{workers}:INCARNATION`, of which only the last beat matters.
    package internal(set) var beats: [Incarnation: Timestamp] = [:]
    /// `worker:{INCARNATION}:sessions`.
    package internal(set) var sessions: [Incarnation: Set<SessionName>] = [:]
    /// `worker:{INCARNATION}:here`.
    package internal(set) var entries: [Incarnation: Set<EntryName>] = [:]
    /// `worker:{INCARNATION}:sweeper`.
    package internal(set) var sweepers: [Incarnation: Expiring<SweepClaim>] = [:]

    /// `events`.
    public internal(set) var events: [Event] = []
    /// `events:state`: the run for which the last reset stands, and when that was.
    package internal(set) var eventsState: TwinEventsState?

    public init(settings: Settings = Settings(), time: Timestamp) {
        self.settings = settings
        self.time = time
    }

    /// Sets Redis's clock forward or back. Keys that have expired by then stay deleted, whatever the clock is set to
    /// next.
    public mutating func setClock(by step: Duration) {
        dropExpired()
        time = time.advanced(by: step)
        dropExpired()
    }

    private mutating func dropExpired() {
        presences = presences.filter { $0.value.read(at: time) != nil }
        revocations = revocations.filter { $0.value.read(at: time) != nil }
        typingUsers = typingUsers.filter { $0.value.read(at: time) != nil }
        typingSets = typingSets.filter { $0.value.read(at: time) != nil }
        sweepers = sweepers.filter { $0.value.read(at: time) != nil }
    }

    /// `FLUSHALL`, or a start without data: every key is deleted. Messages published before are still delivered.
    public mutating func flush() {
        var empty = TwinRedis(settings: settings, time: time)
        empty.hostTime = hostTime
        empty.published = published
        empty.planted = planted
        empty.run = run
        self = empty
    }

    /// A time ahead of the clock was stored before the clock was set back, and is read as now.
    func notAhead(_ moment: Timestamp) -> Timestamp { min(moment, time) }

    /// Whether the write's deadline has passed.
    func isTooLate(_ deadline: Timestamp) -> Bool { time > deadline }
}

/// A deliberate bug in the twin, to show that a test would detect it.
public enum PlantedBug: Hashable, Sendable, CaseIterable {
    /// A sweep removes the device without checking that it still belongs to that incarnation and session.
    case removalWithoutRecheck
    /// A stop ends the user's typing although another of their devices types.
    case stopIgnoresOtherDevices
    /// The order of sessions uses only the clock, whatever was stored before it was set back.
    case ordersByClock
    /// Leases do not move when the clock is set back.
    case leasesIgnoreSteps
    /// Typing stored before the clock was set back counts until its expiry.
    case futureTypingCounts
    /// A revocation uses this clock alone, although a host's may be ahead.
    case revokesByRedisClock
    /// Observers see the record's version, which background devices increment.
    case showsBackground
    /// A sweep appends no event.
    case sweepsSilently
    /// A write that came too late appends an event, and changes nothing.
    case appendsWithoutWriting
    /// An exit ends the entries of all sessions of the device.
    case exitsOthers
    /// An unlisting removes the items of all sessions of the device.
    case unlistsOthers
    /// Events are not reset after Redis lost data.
    case neverResets
    /// What apps' servers have said is renewed also where another worker was told its end.
    case renewsWhatEnded
    /// An answer counts although something was dropped after the question, as if a drop left no mark.
    case answersOutliveDrops
}

/// The contents of `worker:{INCARNATION}:sweeper`: who sweeps, and since when.
package struct SweepClaim: Hashable, Sendable {
    package var holder: Incarnation
    package var since: Timestamp
}

/// A key's value and expiry.
package struct Expiring<Value: Hashable & Sendable>: Hashable, Sendable {
    package var value: Value
    /// `nil` if the key does not expire.
    package var expires: Timestamp?

    /// The value; `nil` if the key has expired. In the exact millisecond of its expiry it still exists.
    package func read(at time: Timestamp) -> Value? {
        expires.map { $0 < time } ?? false ? nil : value
    }
}
