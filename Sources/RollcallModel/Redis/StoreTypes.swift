// What the worker's decisions ask of the store, and what they hear back: plain values, so that the decisions need no
// Redis to be tested and the store needs no decisions.

/// What a published change is about. In Redis its channel carries the name of the key that changed.
public enum Topic: Hashable, Sendable {
    case typing(ConversationID)
    case members(ConversationID)
    case presence(UserID)
    /// Messages to one worker.
    case worker(Incarnation)
}

/// One entry of `worker:{INCARNATION}:sessions`.
public struct SessionName: Hashable, Sendable {
    public var user: UserID
    public var device: DeviceID
    public var session: SessionID

    public init(user: UserID, device: DeviceID, session: SessionID) {
        self.user = user
        self.device = device
        self.session = session
    }
}

/// One decision of a session about its device, to be written to `presence:{USER}`.
public struct DeviceWrite: Hashable, Sendable {
    public var name: SessionName
    /// `nil` removes the device.
    public var state: DeviceState?
    public var incarnation: Incarnation
    /// When the session began, by Redis time; `nil` on its first write, which then sets it from ``age`` and ``opened``.
    public var began: Timestamp?
    /// How long ago the session's connection was opened; counts only where ``began`` is `nil`.
    public var age: Duration
    /// When it was opened, as its worker reckons Redis time, which is not behind. The earlier of both counts: a write
    /// that was long on its way is no younger for it.
    public var opened: Timestamp
    public var sequence: Int64
    /// When the connection was lost, if the device is in grace; of a removal, when somebody was last there.
    public var lost: Timestamp?
    /// The write deadline: later than this, by Redis time, the write does nothing.
    public var until: Timestamp
    /// When the session's token was issued: if the user's tokens were revoked since, the write does nothing, unless it
    /// is a removal. `nil` for a session that no revocation reaches.
    public var issued: Timestamp?

    public init(
        name: SessionName, state: DeviceState?, incarnation: Incarnation, began: Timestamp?, age: Duration,
        opened: Timestamp, sequence: Int64, lost: Timestamp?, until: Timestamp, issued: Timestamp? = nil
    ) {
        self.name = name
        self.state = state
        self.incarnation = incarnation
        self.began = began
        self.age = age
        self.opened = opened
        self.sequence = sequence
        self.lost = lost
        self.until = until
        self.issued = issued
    }
}

/// What became of a ``DeviceWrite``.
public struct DeviceWritten: Hashable, Sendable {
    public enum Outcome: String, Hashable, Sendable {
        /// The record changed and the change was published.
        case written
        /// The same decision had been written before.
        case done
        /// A later decision of the same session stands.
        case late
        /// Another session of the device stands.
        case replaced
        /// The write came after its deadline.
        case expired
        /// The user's tokens were revoked after the session's was issued.
        case revoked
    }

    public var outcome: Outcome
    public var time: Timestamp
    /// When the session began, as the record says now.
    public var began: Timestamp?
    /// The session that this one took the device over from, if that one was living.
    public var previous: PreviousSession?

    public struct PreviousSession: Hashable, Sendable {
        public var incarnation: Incarnation
        /// `MS-RANDOM`, as in the record.
        public var session: String

        public init(incarnation: Incarnation, session: String) {
            self.incarnation = incarnation
            self.session = session
        }
    }

    public init(outcome: Outcome, time: Timestamp, began: Timestamp?, previous: PreviousSession?) {
        self.outcome = outcome
        self.time = time
        self.began = began
        self.previous = previous
    }
}

/// That a device types, or no longer does.
public struct TypingSignal: Hashable, Sendable {
    public var user: UserID
    public var device: DeviceID
    public var conversation: ConversationID
    /// When the typing ends, by Redis time. A stop carries the expiry of the signal that it ends.
    public var expiry: Timestamp

    public init(user: UserID, device: DeviceID, conversation: ConversationID, expiry: Timestamp) {
        self.user = user
        self.device = device
        self.conversation = conversation
        self.expiry = expiry
    }
}

/// What became of a ``TypingSignal`` that says a device types.
public enum TypingOutcome: String, Hashable, Sendable {
    case typing
    case notAMember = "not_a_member"
    /// It came after its own expiry.
    case late
}

/// What became of a stop.
public enum TypingStopOutcome: String, Hashable, Sendable {
    /// Published: the user types no more, or on another device only.
    case stopped
    /// The device began anew since; the stop changes nothing.
    case late
}

/// A read of some users' records, in the order asked.
public struct PresenceSnapshot: Hashable, Sendable {
    public var records: [PresenceRecord]
    /// What Redis knew, after the records were read, of the incarnations that they name and that the reader did not
    /// know to be living, as far as they can be judged: see ``KnownWorkers/judged(_:)``.
    public var standings: [Incarnation: WorkerStanding]
    /// Users of whom there is no record here, since Redis refused to read theirs alone.
    public var unread: [UserID]

    public init(
        records: [PresenceRecord], standings: [Incarnation: WorkerStanding] = [:], unread: [UserID] = []
    ) {
        self.records = records
        self.standings = standings
        self.unread = unread
    }

    /// What observers may be shown of each record.
    public var presences: [Presence] { records.map { $0.presence(past: standings) } }
}

/// What an audit found of one session.
public struct DeviceStanding: Hashable, Sendable {
    /// The device's record; `nil` if there is none.
    public var record: DeviceRecord?
    /// Whether the incarnation's list names the session.
    public var isListed: Bool
    /// When the user's tokens were last revoked, if they were.
    public var revoked: Timestamp?
    /// With which of several servers the record lies, or should; `nil` where one has all.
    public var place: Int?

    public init(record: DeviceRecord?, isListed: Bool, revoked: Timestamp? = nil, place: Int? = nil) {
        self.record = record
        self.isListed = isListed
        self.revoked = revoked
        self.place = place
    }
}

/// A read of a conversation.
public struct RoomSnapshot: Hashable, Sendable {
    public struct Entry: Hashable, Sendable {
        public var user: UserID
        /// When the last of the user's devices stops typing, by Redis time.
        public var expiry: Timestamp
        /// The name that the conversation's members have for the user.
        public var name: String?

        public init(user: UserID, expiry: Timestamp, name: String?) {
            self.user = user
            self.expiry = expiry
            self.name = name
        }
    }

    public var time: Timestamp
    /// Whether the user asked about may join and type.
    public var isMember: Bool
    /// Who types, by user id; empty where it was not asked for.
    public var typists: [Entry]
    /// The members, as many as were asked for at most; `nil` where none were or the conversation has none set.
    public var members: [UserID: String]?
    /// How many members there are.
    public var memberCount: Int

    public init(
        time: Timestamp, isMember: Bool, typists: [Entry], members: [UserID: String]?, memberCount: Int = 0
    ) {
        self.time = time
        self.isMember = isMember
        self.typists = typists
        self.members = members
        self.memberCount = memberCount
    }
}

/// A part of a conversation's members, as one step of a scan finds it.
///
/// Whoever is a member from the first step to the last is in one of the pages, and may be in several. Pages differ in
/// size, and one may be empty though others follow.
public struct MembersPage: Hashable, Sendable {
    public var members: [UserID: String]
    /// From where the next page is read; `nil` for the last.
    public var next: UInt64?
    /// How many members there are.
    public var count: Int

    /// Where the first page is read from.
    public static let start: UInt64 = 0

    public init(members: [UserID: String], next: UInt64?, count: Int) {
        self.members = members
        self.next = next
        self.count = count
    }
}

/// What Redis knows of one incarnation.
public struct WorkerStanding: Hashable, Sendable {
    public var time: Timestamp
    /// `nil` if the incarnation is not known.
    public var leaseEnd: Timestamp?
    /// The time of its last heartbeat.
    public var beat: Timestamp?

    /// Whether its lease had passed when this was read. One that is not known was swept and forgotten.
    public var isDead: Bool { leaseEnd.map { $0 < time } ?? true }

    public init(time: Timestamp, leaseEnd: Timestamp?, beat: Timestamp?) {
        self.time = time
        self.leaseEnd = leaseEnd
        self.beat = beat
    }
}

/// What became of one device of a dead incarnation.
public enum SweepOutcome: String, Hashable, Sendable {
    /// It is gone, and that was published.
    case swept
    /// Nothing there is that incarnation's and session's, or it was gone already.
    case kept
    /// It came after its deadline.
    case expired
}

/// Every lease there is, as a heartbeat read them.
public struct LeaseSnapshot: Hashable, Sendable {
    /// Whether the worker's own lease stands; `false` means that it was lost and never comes back.
    public var held: Bool
    public var time: Timestamp
    public var leases: [Incarnation: Timestamp]

    /// The incarnations whose lease had passed when this was read, by name.
    public var passed: [Incarnation] {
        leases.filter { $0.value < time }.map(\.key).sorted()
    }

    /// Those whose lease stood.
    public var living: Set<Incarnation> { Set(leases.filter { $0.value >= time }.keys) }

    public init(held: Bool, time: Timestamp, leases: [Incarnation: Timestamp]) {
        self.held = held
        self.time = time
        self.leases = leases
    }
}
