// What sessions have entered, and what apps' servers say of who is here: as workers write it to Redis, publish it there, and
// read it.

/// Published on `here:{CONVERSATION}`: how a user is here now, and how many are.
public struct HereChange: Hashable, Sendable {
    public var user: UserID
    /// `nil` if the user is not here any longer.
    public var here: HereUser?
    public var count: Int
    public var at: Timestamp
    /// How many sessions of the user are left here.
    public var sessions: Int
    /// Whether a session left of its own accord, by an exit, a goodbye or in the background. That proves something also if
    /// Redis has lost entries.
    public var isOwnExit: Bool
    /// How long the user is here, as far as apps' servers have said it; `nil` if a session is here.
    public var expiresIn: Duration?

    public init(
        user: UserID, here: HereUser?, count: Int, at: Timestamp, sessions: Int, isOwnExit: Bool,
        expiresIn: Duration? = nil
    ) {
        (self.user, self.here, self.count, self.at) = (user, here, count, at)
        (self.sessions, self.isOwnExit, self.expiresIn) = (max(0, sessions), isOwnExit, expiresIn)
    }
}

extension HereChange: JSONReadable {
    package init(json: JSONValue) throws(UnexpectedJSON) {
        self.init(
            user: try json.field("user"), here: try json.field("here") ? try HereUser(json: json) : nil,
            count: try json.field("count"), at: try json.field("at"), sessions: try json.field("sessions"),
            isOwnExit: try json.field("exit"))
        let rest: Int64? = try json.optionalField("expires_in")
        expiresIn = rest.map { .milliseconds($0) }
    }
}

// MARK: What sessions have entered

/// A session in a conversation: an item of `worker:{INCARNATION}:here`.
public struct EntryName: Hashable, Sendable {
    public var session: SessionName
    public var conversation: ConversationID

    public init(session: SessionName, conversation: ConversationID) {
        (self.session, self.conversation) = (session, conversation)
    }

    /// All that apps' servers say of a user in a conversation is one entry, whichever worker was told.
    package init(ofServersFor user: UserID, in conversation: ConversationID) {
        let session = SessionName(user: user, device: .ofServer(mark: 0), session: SessionID(random: "http"))
        self.init(session: session, conversation: conversation)
    }

    package var isOfServers: Bool { session.device.isOfServer }
}

/// One decision about an entry, to be written to `here:{CONVERSATION}`.
public struct HereWrite: Hashable, Sendable {
    /// What a session shows while it is here.
    public struct Content: Hashable, Sendable {
        public var isIdle: Bool
        public var name: ByteString?
        public var data: HereData?

        public init(isIdle: Bool = false, name: ByteString? = nil, data: HereData? = nil) {
            (self.isIdle, self.name, self.data) = (isIdle, name, data)
        }
    }

    public var entry: EntryName
    /// `nil`: the session is not here.
    public var content: Content?
    public var incarnation: Incarnation
    /// Which decision of the session this is. Of what apps' servers say, 0 for a new decision, to which Redis gives its number;
    /// otherwise the number of what is written again or ended, so that nothing later is.
    public var sequence: Int64
    /// The write deadline. After this moment, in Redis time, the write has no effect.
    public var until: Timestamp
    /// Whether the session may be here while the conversation has no members.
    public var isOpen: Bool
    /// The session of the device that this one has replaced, whose line goes.
    public var replaced: SessionID?
    /// Since when the user was here, as far as the session knows. Redis may have lost it.
    public var since: Timestamp?
    /// Whether the session leaves of its own accord.
    public var isOwnExit: Bool
    /// How long what apps' servers say is to last; `nil` for a session.
    public var lasts: Duration?
    /// Under which incarnation it was written, to write it again only if it is stored like that or Redis has gone back to something
    /// earlier; `nil` to write it in any case.
    public var renews: Incarnation?

    public init(
        entry: EntryName, content: Content?, incarnation: Incarnation, sequence: Int64, until: Timestamp,
        isOpen: Bool = true, replaced: SessionID? = nil, since: Timestamp? = nil, isOwnExit: Bool = false,
        lasts: Duration? = nil, renews: Incarnation? = nil
    ) {
        (self.lasts, self.renews) = (lasts, renews)
        (self.entry, self.content, self.incarnation, self.sequence) = (entry, content, incarnation, sequence)
        (self.until, self.isOpen, self.replaced, self.since) = (until, isOpen, replaced, since)
        self.isOwnExit = isOwnExit
    }
}

/// The result of a ``HereWrite``.
public struct HereWritten: Hashable, Sendable {
    public enum Outcome: String, Hashable, Sendable {
        case here
        /// No line of the session is left.
        case gone
        /// A later decision of the session was written before, or there is nothing to renew.
        case late
        /// The user is no member; no line of the session is left.
        case notAMember = "not_a_member"
        /// The write came after its deadline.
        case expired
    }

    public var outcome: Outcome
    public var time: Timestamp
    /// Since when the user is here; `nil` if not.
    public var since: Timestamp?
    /// Of what apps' servers say: the number of what is stored now, `nil` if nothing is; and what was stored before.
    public var sequence: Int64?
    public var former: Former?

    public struct Former: Hashable, Sendable {
        public var incarnation: Incarnation
        public var sequence: Int64

        public init(incarnation: Incarnation, sequence: Int64) {
            (self.incarnation, self.sequence) = (incarnation, sequence)
        }
    }

    public init(
        outcome: Outcome, time: Timestamp, since: Timestamp?, sequence: Int64? = nil, former: Former? = nil
    ) {
        (self.outcome, self.time, self.since) = (outcome, time, since)
        (self.sequence, self.former) = (sequence, former)
    }
}

/// A session's line in `here:{CONVERSATION}`: `DEVICE INCARNATION RANDOM SEQ STATE NAME DATA`, separated by tabs. A line of apps'
/// servers also has its `END`.
public struct HereLine: Hashable, Sendable {
    public var device: DeviceID
    public var incarnation: Incarnation
    public var session: SessionID
    public var sequence: Int64
    public var content: HereWrite.Content
    /// When it ends by itself; `nil` for a session's.
    public var ends: Timestamp?

    package init(
        device: DeviceID, incarnation: Incarnation, session: SessionID, sequence: Int64, content: HereWrite.Content,
        ends: Timestamp? = nil
    ) {
        (self.device, self.incarnation, self.session) = (device, incarnation, session)
        (self.sequence, self.content, self.ends) = (sequence, content, ends)
    }

    /// How long apps' servers may have a user be here without saying it again. What ends later, since Redis's clock was set back,
    /// ends then.
    package static let longest = Duration.seconds(300)

    /// Returns how long it still lasts: none if it has ended; `nil` for a session's.
    package func rest(at time: Timestamp) -> Duration? {
        ends.map { min(max(.zero, $0.since(time)), Self.longest) }
    }

    /// Returns when the last of these ends; `nil` without lines, or if one of them is a session's.
    package static func lastEnd(_ lines: [HereLine]) -> Timestamp? {
        let ends = lines.compactMap(\.ends)
        return ends.count == lines.count ? ends.max() : nil
    }

    /// Reads a line. Words after the eighth are from later versions and ignored.
    ///
    /// - Returns: `nil` if the text is no line.
    package init?(_ text: ByteString) {
        let words = text.parts(at: "\t")
        guard words.count >= 7, let device = DeviceID(written: words[0]), !words[1].isEmpty, !words[2].isEmpty,
            let sequence = Int64(decimal: words[3])
        else { return nil }
        self.init(
            device: device, incarnation: Incarnation(name: words[1]), session: SessionID(random: words[2]),
            sequence: sequence,
            content: .init(
                isIdle: words[4] != "active", name: words[5].isEmpty ? nil : words[5], data: HereData(stored: words[6])),
            ends: words.count > 7 ? Int64(decimal: words[7]).map(Timestamp.init(milliseconds:)) : nil)
    }

    /// The lines of a user.
    package static func lines(_ text: ByteString) -> [HereLine] { text.parts(at: "\n").compactMap(HereLine.init) }

    /// As `here_write` writes it.
    package var text: String {
        "\(device)\t\(incarnation)\t\(session)\t\(sequence)\t\(content.isIdle ? "idle" : "active")\t"
            + "\(content.name?.string ?? "")\t\(content.data?.text.string ?? "")"
            + (ends.map { "\t\($0.milliseconds)" } ?? "")
    }
}

extension HereUser {
    /// A user with these lines, the one that sent data last at the end; `nil` without lines.
    package init?(_ user: UserID, _ lines: [HereLine], since: Timestamp) {
        guard let last = lines.last(where: { $0.content.data != nil }) ?? lines.last else { return nil }
        self.init(
            user: user, name: last.content.name, since: since, isIdle: lines.allSatisfy(\.content.isIdle),
            data: last.content.data)
    }
}

/// Who is here, as a read found it.
public struct HereSnapshot: Hashable, Sendable {
    /// A user with their lines, the one that sent data last at the end.
    struct Row: Hashable, Sendable {
        let user: UserID
        let since: Timestamp
        var lines: [HereLine]
    }

    private let conversation: ConversationID
    private var rows: [Row]
    /// How many there are.
    public private(set) var count: Int
    /// Whether lines were left out, and the users who are stored and do not count, since all of theirs were.
    package private(set) var lacksLines = false
    package private(set) var leftOut: Set<UserID> = []

    package init(
        _ users: some Sequence<(user: UserID, since: Timestamp, lines: [HereLine])>, count: Int,
        in conversation: ConversationID
    ) {
        (self.conversation, self.count) = (conversation, count)
        rows = users.map { Row(user: $0, since: $1, lines: $2) }
    }

    /// The first of them, the longest here first, then by bytes.
    public var users: [HereUser] { rows.compactMap { HereUser($0.user, $0.lines, since: $0.since) } }

    /// The number of lines of each of ``users``.
    package var sessions: [UserID: Int] { Dictionary(rows.map { ($0.user, $0.lines.count) }) { first, _ in first } }

    /// When users are here no longer who are here only as apps' servers have said.
    package var ends: [UserID: Timestamp] {
        rows.reduce(into: [:]) { $0[$1.user] = HereLine.lastEnd($1.lines) }
    }

    /// Returns the entries of these lines, and which incarnations hold them.
    package func entries(where isAsked: (HereLine) -> Bool = { _ in true }) -> [HeldItem] {
        rows.flatMap { row in
            row.lines.filter(isAsked).map {
                let session = SessionName(user: row.user, device: $0.device, session: $0.session)
                return HeldItem(.entry(EntryName(session: session, conversation: conversation)), of: $0.incarnation)
            }
        }
    }

    /// Leaves out lines, and the users who have no other.
    package mutating func leaveOut(_ isOut: (HereLine) -> Bool) {
        for index in rows.indices where rows[index].lines.contains(where: isOut) {
            lacksLines = true
            rows[index].lines.removeAll(where: isOut)
            if rows[index].lines.isEmpty { leftOut.insert(rows[index].user) }
        }
        rows.removeAll { leftOut.contains($0.user) }
        count -= leftOut.count
    }
}
