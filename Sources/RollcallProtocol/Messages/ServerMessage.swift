// The messages from workers. Each contains the current state of one thing, never a delta, so lost, repeated or late
// messages do no harm.

/// A message from a worker to a client.
public enum ServerMessage: Hashable, Sendable {
    /// The answer to `hello`: the session is established.
    case welcome(Welcome)
    /// The current presence of each named user. With an id it answers a `get`.
    case presence([Presence], id: MessageID? = nil)
    /// All users who are typing in a conversation, except the receiver.
    case typing(Typing)
    /// The members of a conversation that the receiver joined with `presence`.
    case members(Members)
    /// Who has a conversation open that the receiver joined with `here`, the receiver's user included.
    case here(Here)
    /// The receiver is no longer a member of this conversation.
    case removed(ConversationID)
    /// The receiver's own settings, once they are known and after each change.
    indirect case person(Person)
    case pong(time: Timestamp)
    /// The message with this id has taken effect.
    case ack(MessageID)
    case error(MessageError)
    /// The worker is about to close the connection.
    case goodbye(Goodbye)

    public struct Welcome: Hashable, Sendable {
        public var user: UserID
        public var device: DeviceID
        public var session: ByteString
        public var worker: ByteString
        /// The worker's estimate of Redis time.
        public var time: Timestamp
        /// The interval of the worker's pings, in milliseconds.
        public var ping: Int64
        public var typing: TypingTimes
        public var limits: Limits
        /// Up to how long a client that has lost its connection waits at random before it reconnects, at first: in milliseconds.
        public var reconnect: Int64
        /// The minimum time between two shown changes, of a user or of what a device shows where it is: in milliseconds.
        public var coalesce: Int64
        /// Which conversations without members the session may join; `nil` if a later version says it in another way.
        public var join: JoinRight?
        /// Which users the session may ask about by name; `nil` if a later version says it in another way.
        public var watch: WatchRight?

        public init(
            user: UserID, device: DeviceID, session: ByteString, worker: ByteString, time: Timestamp, ping: Int64,
            typing: TypingTimes, limits: Limits, reconnect: Int64 = 1500, coalesce: Int64 = 500,
            join: JoinRight? = .all, watch: WatchRight? = .all
        ) {
            self.user = user
            self.device = device
            self.session = session
            self.worker = worker
            self.time = time
            self.ping = ping
            self.typing = typing
            self.limits = limits
            self.reconnect = reconnect
            self.coalesce = coalesce
            self.join = join
            self.watch = watch
        }
    }

    /// How long typing lasts and how often it should be renewed, in milliseconds.
    public struct TypingTimes: Hashable, Sendable {
        public var expiry: Int64
        public var throttle: Int64

        public init(expiry: Int64, throttle: Int64) {
            self.expiry = expiry
            self.throttle = throttle
        }
    }

    /// The limits of one session.
    public struct Limits: Hashable, Sendable {
        public var watchedUsers: Int
        public var joinedConversations: Int
        public var messageBytes: Int
        /// Messages per second, in the long run.
        public var messageRate: Int
        /// Messages in one burst.
        public var messageBurst: Int
        /// Conversations that the session may have open.
        public var enteredConversations: Int
        /// The most bytes that it may show in each.
        public var hereData: Int

        public init(
            watchedUsers: Int, joinedConversations: Int, messageBytes: Int, messageRate: Int, messageBurst: Int,
            enteredConversations: Int = 10, hereData: Int = 512
        ) {
            self.enteredConversations = enteredConversations
            self.hereData = hereData
            self.watchedUsers = watchedUsers
            self.joinedConversations = joinedConversations
            self.messageBytes = messageBytes
            self.messageRate = messageRate
            self.messageBurst = messageBurst
        }
    }

    public struct Typing: Hashable, Sendable {
        public var conversation: ConversationID
        /// The typing users, at most `typing.names`, in the order in which the worker learned of them.
        public var users: [Typist]
        /// The number of typing users, named or not.
        public var count: Int

        public init(conversation: ConversationID, users: [Typist], count: Int) {
            self.conversation = conversation
            self.users = users
            self.count = count
        }
    }

    public struct Here: Hashable, Sendable {
        public var conversation: ConversationID
        /// The first of those who are here, at most `here.names`: the longest here first, then by bytes. Without data, if
        /// there are more.
        public var users: [HereUser]
        /// The number of users who are here, named or not.
        public var count: Int

        public init(conversation: ConversationID, users: [HereUser], count: Int) {
            self.conversation = conversation
            self.users = users
            self.count = count
        }
    }

    public struct Members: Hashable, Sendable {
        public var conversation: ConversationID
        /// The members, sorted by identifier, at most ``Limits/watchedUsers``. The receiver gets the presence of these.
        public var users: [Member]
        /// The number of members, named or not; 0 if the conversation has no member list.
        public var count: Int

        public init(conversation: ConversationID, users: [Member], count: Int) {
            self.conversation = conversation
            self.users = users
            self.count = count
        }
    }

    public struct Member: Hashable, Sendable {
        public var user: UserID
        public var name: ByteString?

        public init(user: UserID, name: ByteString? = nil) {
            self.user = user
            self.name = name
        }
    }

    public struct Goodbye: Hashable, Sendable {
        public var reason: GoodbyeReason
        /// Whether reconnecting can help.
        public var reconnect: Bool
        /// Milliseconds to wait before reconnecting; `nil` if the client decides.
        public var after: Int64?
        /// The URL to which to reconnect; `nil` if the client decides.
        public var to: ByteString?

        public init(reason: GoodbyeReason, reconnect: Bool, after: Int64? = nil, to: ByteString? = nil) {
            self.reason = reason
            self.reconnect = reconnect
            self.after = after
            self.to = to
        }
    }
}

/// What counts as typing.
public enum TypingKind: String, Hashable, Sendable, CaseIterable {
    case typing
    /// Speaking a message, for example.
    case recording
    case uploading
    /// For bots and agents.
    case thinking
}

/// A user who is typing.
public struct Typist: Hashable, Sendable, Codable {
    public var user: UserID
    /// The user's name in the conversation's member list, or that of their sign-in; `nil` if neither has one.
    public var name: String?
    public var kind: TypingKind

    public init(user: UserID, name: String? = nil, kind: TypingKind = .typing) {
        self.user = user
        self.name = name
        self.kind = kind
    }

    /// Names are compared by bytes: another Unicode form of the same letters is another name.
    public static func == (left: Self, right: Self) -> Bool {
        left.user == right.user && left.kind == right.kind
            && left.name.map(ByteString.init) == right.name.map(ByteString.init)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(user)
    }

    private enum CodingKeys: String, CodingKey { case user, name, kind }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        let kind = try fields.decodeIfPresent(String.self, forKey: .kind)
        self.init(
            user: try fields.decode(UserID.self, forKey: .user),
            name: try fields.decodeIfPresent(String.self, forKey: .name),
            kind: TypingKind(stored: kind.map(ByteString.init)))
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(user, forKey: .user)
        try fields.encodeIfPresent(name, forKey: .name)
        try fields.encodeIfPresent(kind.word, forKey: .kind)
    }
}
