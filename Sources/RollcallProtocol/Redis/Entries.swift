// What sessions have entered: as workers write it to Redis, publish it there, and read it.

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

    public init(user: UserID, here: HereUser?, count: Int, at: Timestamp, sessions: Int, isOwnExit: Bool) {
        (self.user, self.here, self.count, self.at) = (user, here, count, at)
        (self.sessions, self.isOwnExit) = (max(0, sessions), isOwnExit)
    }
}

extension HereChange: JSONReadable {
    package init(json: JSONValue) throws(UnexpectedJSON) {
        self.init(
            user: try json.field("user"), here: try json.field("here") ? try HereUser(json: json) : nil,
            count: try json.field("count"), at: try json.field("at"), sessions: try json.field("sessions"),
            isOwnExit: try json.field("exit"))
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

    public init(
        entry: EntryName, content: Content?, incarnation: Incarnation, sequence: Int64, until: Timestamp,
        isOpen: Bool = true, replaced: SessionID? = nil, since: Timestamp? = nil, isOwnExit: Bool = false
    ) {
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
        /// A later decision of the session was written before.
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

    public init(outcome: Outcome, time: Timestamp, since: Timestamp?) {
        (self.outcome, self.time, self.since) = (outcome, time, since)
    }
}

/// A session's line in `here:{CONVERSATION}`: `DEVICE INCARNATION RANDOM SEQ STATE NAME DATA`, separated by tabs.
public struct HereLine: Hashable, Sendable {
    public var device: DeviceID
    public var incarnation: Incarnation
    public var session: SessionID
    public var sequence: Int64
    public var content: HereWrite.Content

    package init(
        device: DeviceID, incarnation: Incarnation, session: SessionID, sequence: Int64, content: HereWrite.Content
    ) {
        (self.device, self.incarnation, self.session) = (device, incarnation, session)
        (self.sequence, self.content) = (sequence, content)
    }

    /// Reads a line. Words after the seventh are from later versions and ignored.
    ///
    /// - Returns: `nil` if the text is no line.
    package init?(_ text: ByteString) {
        let words = text.parts(at: "\t")
        guard words.count >= 7, let device = DeviceID(written: words[0]), !words[1].isEmpty, !words[2].isEmpty,
            let sequence = Int64(words[3].string)
        else { return nil }
        self.init(
            device: device, incarnation: Incarnation(name: words[1]), session: SessionID(random: words[2]),
            sequence: sequence,
            content: .init(
                isIdle: words[4] != "active", name: words[5].isEmpty ? nil : words[5], data: HereData(stored: words[6]))
        )
    }

    /// The lines of a user.
    package static func lines(_ text: ByteString) -> [HereLine] { text.parts(at: "\n").compactMap(HereLine.init) }

    /// As `here_write` writes it.
    package var text: String {
        "\(device)\t\(incarnation)\t\(session)\t\(sequence)\t\(content.isIdle ? "idle" : "active")\t"
            + "\(content.name?.string ?? "")\t\(content.data?.text.string ?? "")"
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
    /// The first of them, the longest here first, then by bytes.
    public var users: [HereUser]
    /// How many there are.
    public var count: Int
    /// The entries of ``users``, and which incarnations hold them.
    public var entries: [HeldItem]

    public init(users: [HereUser], count: Int, entries: [HeldItem] = []) {
        (self.users, self.count, self.entries) = (users, count, entries)
    }

    package init(
        _ users: some Sequence<(user: UserID, since: Timestamp, lines: [HereLine])>, count: Int,
        in conversation: ConversationID
    ) {
        self.init(users: users.compactMap { HereUser($0, $2, since: $1) }, count: count)
        for (user, _, lines) in users {
            entries += lines.map {
                let session = SessionName(user: user, device: $0.device, session: $0.session)
                return HeldItem(.entry(EntryName(session: session, conversation: conversation)), of: $0.incarnation)
            }
        }
    }
}
