// The parameters and results of the worker's store: plain values, so that decisions can be tested without Redis and the
// store contains no decisions.

/// The subject of a published change. In Redis the channel has the name of the key that changed.
public enum Topic: Hashable, Sendable {
    case typing(ConversationID)
    case members(ConversationID)
    case presence(UserID)
    case here(ConversationID)
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

/// An item of one of an incarnation's lists, by which a sweep finds what it left.
public enum ListItem: Hashable, Sendable {
    /// In `worker:{INCARNATION}:sessions`: removes the device.
    case session(SessionName)
    /// In `worker:{INCARNATION}:here`: removes the line.
    case entry(EntryName)
}

/// What an incarnation holds, as a read found it.
public struct HeldItem: Hashable, Sendable {
    public var item: ListItem
    public var incarnation: Incarnation

    public init(_ item: ListItem, of incarnation: Incarnation) { (self.item, self.incarnation) = (item, incarnation) }
}

/// One decision of a session about its device, to be written to `presence:{USER}`.
public struct DeviceWrite: Hashable, Sendable {
    public var name: SessionName
    /// `nil` removes the device.
    public var state: DeviceState?
    public var incarnation: Incarnation
    /// When the session began, in Redis time. `nil` for its first write, which derives it from ``age`` and ``opened``.
    public var began: Timestamp?
    /// How long ago the session's connection was opened. Used only if ``began`` is `nil`.
    public var age: Duration
    /// When the connection was opened, by the worker's estimate of Redis time, which is not behind. The script uses the
    /// earlier of this and ``age``'s result, so that a delayed write does not change the session's age.
    public var opened: Timestamp
    public var sequence: Int64
    /// When the connection was lost, if the device is in its grace period; for a removal, until when the user was
    /// present.
    public var lost: Timestamp?
    /// The write deadline. After this moment, in Redis time, the write has no effect.
    public var until: Timestamp
    /// When the session's token was issued. If the user's tokens were revoked since then, the write has no effect,
    /// unless it is a removal. `nil` for a session to which no revocation applies.
    public var issued: Timestamp?
    /// What the session's token says of the user. Stored unless a later token has said something.
    public var profile = Profile()
    /// ``LeaseSnapshot/reset``: a user who is there and whose record has another is told again.
    public var reset: Int64 = 0
    /// The revision of the user's person, as far as the worker knows it; 0 if it knows none. The record never has an older one.
    public var person: Int64 = 0
    /// Whether Redis may have returned to older data, so that observers may have seen of the user what it has forgotten. They
    /// are then told what the write leads to, even if it changes nothing that is shown.
    public var isAfterOutage = false

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

/// The result of a ``DeviceWrite``.
public struct DeviceWritten: Hashable, Sendable {
    public enum Outcome: String, Hashable, Sendable {
        /// The record changed, and the change was published.
        case written
        /// The same decision was written before.
        case done
        /// A later decision of the same session is in the record.
        case late
        /// Another session of the device is in the record.
        case replaced
        /// The write came after its deadline.
        case expired
        /// The user's tokens were revoked after the session's token was issued.
        case revoked
    }

    public var outcome: Outcome
    public var time: Timestamp
    /// When the session began, by the record after the write.
    public var began: Timestamp?
    /// The session that this one replaced, if that was still alive.
    public var previous: PreviousSession?
    /// The revision of the user's person, by the record after the write; 0 if there is none.
    public var person: Int64
    /// How long ago the tokens were revoked, if they were.
    public var revokedAgo: Duration?

    public struct PreviousSession: Hashable, Sendable {
        public var incarnation: Incarnation
        /// `MS-RANDOM`, as in the record.
        public var session: ByteString

        public init(incarnation: Incarnation, session: ByteString) {
            self.incarnation = incarnation
            self.session = session
        }
    }

    public init(
        outcome: Outcome, time: Timestamp, began: Timestamp?, previous: PreviousSession?, person: Int64 = 0,
        revokedAgo: Duration? = nil
    ) {
        self.person = person
        self.revokedAgo = revokedAgo
        self.outcome = outcome
        self.time = time
        self.began = began
        self.previous = previous
    }
}

/// A device starts, continues or stops typing.
public struct TypingSignal: Hashable, Sendable {
    public var user: UserID
    public var device: DeviceID
    public var conversation: ConversationID
    /// When the typing ends, in Redis time. A stop has the expiry of the signal that it ends.
    public var expiry: Timestamp
    /// Of no meaning for a stop, as the name.
    public var kind: TypingKind
    /// What the typist's token says of their name. Stored unless the typing began with another.
    public var name: ByteString?

    public init(
        user: UserID, device: DeviceID, conversation: ConversationID, expiry: Timestamp, kind: TypingKind = .typing,
        name: ByteString? = nil
    ) {
        self.kind = kind
        self.name = name
        self.user = user
        self.device = device
        self.conversation = conversation
        self.expiry = expiry
    }
}

/// What an app's server says of a user's typing.
public enum ServerTypingStep: String, Hashable, Sendable {
    /// In place of what a server has said before.
    case begin
    /// As long as nothing else was said.
    case renew
    case end
}

extension DeviceID {
    /// The device under which a user types on behalf of an app's server. Its brace keeps clients from naming it.
    ///
    /// - Parameter mark: another one for each beginning.
    package static func ofServer(mark: UInt64) -> DeviceID {
        DeviceID(unchecked: ByteString("{http}\(String(mark, radix: 36))"))
    }

    /// A device as a worker has written it, which may be one of an app's server.
    package init?(written text: ByteString) {
        if text.begins(with: "{http}") { self.init(unchecked: text) } else { try? self.init(text) }
    }

    package var isOfServer: Bool { text.utf8.starts(with: "{http}".utf8) }
}

/// The result of a ``TypingSignal`` that starts or continues typing.
public enum TypingOutcome: String, Hashable, Sendable {
    case typing
    case notAMember = "not_a_member"
    /// The signal came after its own expiry.
    case late
}

/// The result of a stop.
public enum TypingStopOutcome: String, Hashable, Sendable {
    /// Published: the user no longer types, or only on another device.
    case stopped
    /// The device has signalled typing again since; the stop changed nothing.
    case late
}

/// The records of some users, in the requested order.
public struct PresenceSnapshot: Hashable, Sendable {
    public var records: [PresenceRecord]
    /// What Redis knew, after the records were read, about the incarnations that they name and that the reader did not
    /// know to be alive, as far as it can be used: see ``KnownWorkers/judged(_:)``.
    public var standings: [Incarnation: WorkerStanding]
    /// Users without a record here, because Redis refused to read theirs although it read others.
    public var unread: [UserID]
    /// What Redis knew, after the records were read, of the persons of users whose record names one, and of all who would look
    /// never seen; `nil` where there was none that this version understands.
    public var persons: [UserID: Person?]

    public init(
        records: [PresenceRecord], standings: [Incarnation: WorkerStanding] = [:], unread: [UserID] = [],
        persons: [UserID: Person?] = [:]
    ) {
        self.persons = persons
        self.records = records
        self.standings = standings
        self.unread = unread
    }
}

/// The result of an audit for one session.
public struct DeviceStanding: Hashable, Sendable {
    /// The device's record; `nil` if there is none.
    public var record: DeviceRecord?
    /// Whether the incarnation's list contains the session.
    public var isListed: Bool
    /// When the user's tokens were last revoked, if they were.
    public var revoked: Timestamp?
    /// The index of the server that stores the record or would store it; `nil` if there is only one.
    public var place: Int?
    /// The revision of the user's person that the record names, and the one that is stored; 0 for none.
    public var person = PersonRevisions()

    public struct PersonRevisions: Hashable, Sendable {
        public var named: Int64 = 0
        public var stored: Int64 = 0

        public init(named: Int64 = 0, stored: Int64 = 0) { (self.named, self.stored) = (named, stored) }
    }

    public init(
        record: DeviceRecord?, isListed: Bool, revoked: Timestamp? = nil, place: Int? = nil,
        person: PersonRevisions = PersonRevisions()
    ) {
        self.person = person
        self.record = record
        self.isListed = isListed
        self.revoked = revoked
        self.place = place
    }
}

/// The state of a conversation.
public struct RoomSnapshot: Hashable, Sendable {
    public struct Entry: Hashable, Sendable {
        public var user: UserID
        /// When the last of the user's devices stops typing, in Redis time.
        public var expiry: Timestamp
        /// The user's name in the conversation's member list, or that of their token.
        public var name: ByteString?
        /// Of the device that types longest.
        public var kind: TypingKind

        public init(user: UserID, expiry: Timestamp, name: ByteString?, kind: TypingKind = .typing) {
            self.kind = kind
            self.user = user
            self.expiry = expiry
            self.name = name
        }
    }

    public var time: Timestamp
    /// Whether the conversation has a member list, which alone then decides who may join and type.
    public var isManaged: Bool
    /// Those of the users in the request who are on it.
    public var admitted: Set<UserID>
    /// The typing users, sorted by id; empty if they were not requested.
    public var typists: [Entry]
    /// The members, at most as many as requested; `nil` if none were requested or the conversation has no member list.
    public var members: [UserID: ByteString]?
    /// The number of members.
    public var memberCount: Int
    /// Who is here; `nil` if that was not requested.
    public var here: HereSnapshot?
    /// What an app's server has answered about the users in the request.
    public var access: [UserID: AccessRecord]
    /// Whom it named as the conversation's people.
    public var people: [UserID]

    public init(
        time: Timestamp, isManaged: Bool, admitted: Set<UserID>, typists: [Entry], members: [UserID: ByteString]?,
        memberCount: Int = 0, here: HereSnapshot? = nil, access: [UserID: AccessRecord] = [:], people: [UserID] = []
    ) {
        self.here = here
        self.access = access
        self.people = people
        self.time = time
        self.isManaged = isManaged
        self.admitted = admitted
        self.typists = typists
        self.members = members
        self.memberCount = memberCount
    }
}

/// Part of a conversation's members, as returned by one step of a scan.
///
/// A user who is a member during the whole scan is on at least one page, and may be on several. Pages differ in size,
/// and a page may be empty even if others follow.
public struct MembersPage: Hashable, Sendable {
    public var members: [UserID: ByteString]
    /// The cursor for the next page; `nil` on the last.
    public var next: UInt64?
    /// The number of members.
    public var count: Int

    /// The cursor for the first page.
    public static let start: UInt64 = 0

    public init(members: [UserID: ByteString], next: UInt64?, count: Int) {
        self.members = members
        self.next = next
        self.count = count
    }
}

/// What Redis knows about one incarnation.
public struct WorkerStanding: Hashable, Sendable {
    public var time: Timestamp
    /// `nil` if the incarnation is not known.
    public var leaseEnd: Timestamp?
    /// The time of the last heartbeat.
    public var beat: Timestamp?

    /// Whether the lease had expired when this was read. An unknown incarnation was swept and removed.
    public var isDead: Bool { leaseEnd.map { $0 < time } ?? true }

    public init(time: Timestamp, leaseEnd: Timestamp?, beat: Timestamp?) {
        self.time = time
        self.leaseEnd = leaseEnd
        self.beat = beat
    }
}

/// The result of sweeping one device of a dead incarnation.
public enum SweepOutcome: String, Hashable, Sendable {
    /// The device was removed, and that was published.
    case swept
    /// The record does not belong to that incarnation and session, or the device was gone already.
    case kept
    /// The sweep came after its deadline.
    case expired
}

/// All leases, as a heartbeat read them.
public struct LeaseSnapshot: Hashable, Sendable {
    /// Whether the worker's own lease is held. If not, it was lost and never returns.
    public var held: Bool
    public var time: Timestamp
    public var leases: [Incarnation: Timestamp]
    /// When the last reset of the events was, as the first heartbeat of an incarnation reads it; 0 if they are off. Only a
    /// mark: two of them are equal or not.
    public var reset: Int64
    /// Why Redis refuses to append events, if it does.
    public var eventsRefused: ByteString?

    /// The incarnations whose lease had expired when this was read, sorted by name.
    public var passed: [Incarnation] {
        leases.filter { $0.value < time }.map(\.key).sorted()
    }

    /// The incarnations whose lease had not expired.
    public var living: Set<Incarnation> { Set(leases.filter { $0.value >= time }.keys) }

    public init(
        held: Bool, time: Timestamp, leases: [Incarnation: Timestamp], reset: Int64 = 0,
        eventsRefused: ByteString? = nil
    ) {
        self.eventsRefused = eventsRefused
        self.held = held
        self.time = time
        self.leases = leases
        self.reset = reset
    }
}
