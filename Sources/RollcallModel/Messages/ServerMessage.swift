// What a worker says: always the present state of one thing, never a delta, so that a lost, repeated or late message
// does no harm.

/// A message from a worker to a client.
public enum ServerMessage: Hashable, Sendable {
    /// The answer to `hello`: the session stands.
    case welcome(Welcome)
    /// The whole present state of each user named. With an id it answers a `get`.
    case presence([Presence], id: MessageID? = nil)
    /// The whole set of those who type in a conversation, but the receiver.
    case typing(Typing)
    /// Who belongs to a conversation that the receiver joined with `presence`.
    case members(Members)
    /// The receiver is no longer a member of this conversation.
    case removed(ConversationID)
    case pong(time: Timestamp)
    /// The message with this id has taken effect.
    case ack(MessageID)
    case error(MessageError)
    /// The worker is about to close the connection.
    case goodbye(Goodbye)

    public struct Welcome: Hashable, Sendable {
        public var user: UserID
        public var device: DeviceID
        public var session: String
        public var worker: String
        /// Redis time as the worker knows it.
        public var time: Timestamp
        /// How often the worker pings, in milliseconds.
        public var ping: Int64
        public var typing: TypingTimes
        public var limits: Limits

        public init(
            user: UserID, device: DeviceID, session: String, worker: String, time: Timestamp, ping: Int64,
            typing: TypingTimes, limits: Limits
        ) {
            self.user = user
            self.device = device
            self.session = session
            self.worker = worker
            self.time = time
            self.ping = ping
            self.typing = typing
            self.limits = limits
        }
    }

    /// How long typing lasts and how often it need be renewed, in milliseconds.
    public struct TypingTimes: Hashable, Sendable {
        public var expiry: Int64
        public var throttle: Int64

        public init(expiry: Int64, throttle: Int64) {
            self.expiry = expiry
            self.throttle = throttle
        }
    }

    /// What one session may ask for.
    public struct Limits: Hashable, Sendable {
        public var watchedUsers: Int
        public var joinedConversations: Int
        public var messageBytes: Int
        /// Messages a second, in the long run.
        public var messageRate: Int
        /// Messages at once.
        public var messageBurst: Int

        public init(
            watchedUsers: Int, joinedConversations: Int, messageBytes: Int, messageRate: Int, messageBurst: Int
        ) {
            self.watchedUsers = watchedUsers
            self.joinedConversations = joinedConversations
            self.messageBytes = messageBytes
            self.messageRate = messageRate
            self.messageBurst = messageBurst
        }
    }

    public struct Typing: Hashable, Sendable {
        public var conversation: ConversationID
        /// At most `typing.names` of them, in the order in which the worker learnt of them.
        public var users: [Typist]
        /// How many there are, named or not.
        public var count: Int

        public init(conversation: ConversationID, users: [Typist], count: Int) {
            self.conversation = conversation
            self.users = users
            self.count = count
        }
    }

    public struct Members: Hashable, Sendable {
        public var conversation: ConversationID
        /// By their identifiers, at most ``Limits/watchedUsers`` of them: those whose presence the receiver is told.
        public var users: [Member]
        /// How many there are, named or not; 0 where no members are set.
        public var count: Int

        public init(conversation: ConversationID, users: [Member], count: Int) {
            self.conversation = conversation
            self.users = users
            self.count = count
        }
    }

    public struct Member: Hashable, Sendable {
        public var user: UserID
        public var name: String?

        public init(user: UserID, name: String? = nil) {
            self.user = user
            self.name = name
        }

        public static func == (left: Self, right: Self) -> Bool {
            left.user == right.user && TextBytes.areSame(left.name, right.name)
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(user)
        }
    }

    public struct Goodbye: Hashable, Sendable {
        public var reason: GoodbyeReason
        /// Whether coming back can help.
        public var reconnect: Bool
        /// Milliseconds to wait before coming back.
        public var after: Int64?
        /// Where to come back, if it is known.
        public var to: String?

        public init(reason: GoodbyeReason, reconnect: Bool, after: Int64? = nil, to: String? = nil) {
            self.reason = reason
            self.reconnect = reconnect
            self.after = after
            self.to = to
        }
    }
}

/// Somebody who types.
public struct Typist: Hashable, Sendable, Codable {
    public var user: UserID
    /// The name that the conversation's members have for them, if it is known.
    public var name: String?

    public init(user: UserID, name: String? = nil) {
        self.user = user
        self.name = name
    }

    /// Names are compared by their bytes: another form of the same letters is another name.
    public static func == (left: Self, right: Self) -> Bool {
        left.user == right.user && TextBytes.areSame(left.name, right.name)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(user)
    }
}
