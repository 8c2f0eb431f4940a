// What the configuration decides for a shard.

public import RollcallModel

/// The settings of a worker's decisions. Defaults are the configuration's.
public struct ShardSettings: Hashable, Sendable {
    public struct Typing: Hashable, Sendable {
        public var expiry = Duration.seconds(3)
        public var throttle = Duration.seconds(1)
        /// The least time between two messages to a room in which more than ``names`` people type.
        public var coalesce = Duration.milliseconds(250)
        /// How many typists a message names at most.
        public var names = 10
    }

    public var typing = Typing()
    /// How long a device whose connection was lost keeps its presence.
    public var grace = Duration.seconds(5)
    /// How long a new connection may take until its hello.
    public var hello = Duration.seconds(5)
    /// How often connections are pinged: told to clients only, the edge does it.
    public var ping = Duration.seconds(10)
    public var lease = Duration.seconds(5)
    public var heartbeat = Duration.seconds(1)
    /// Whether records lie with several servers, of which each can forget what it has while the others do not.
    public var isSpread = false
    public var limits = ServerMessage.Limits(
        watchedUsers: 2000, joinedConversations: 500, messageBytes: 65536, messageRate: 50, messageBurst: 200)

    public init() {}

    /// When a device whose connection was lost is taken offline: a little after the grace, for in the grace's last
    /// moment it may be back, and its new session is still to be written.
    var removal: Duration { grace > .zero ? grace + Self.writing : .zero }

    /// How long it may take until a session is written, in two steps.
    static let writing = Duration.milliseconds(250)

    /// How long an audit takes to come round to each session.
    public static let auditCycle = Duration.seconds(300)
    /// The most sessions that one heartbeat's audit reads.
    public static let auditBatch = 500
    /// The sessions that each heartbeat's audit reads at least, if there are so many, where records are spread: enough that
    /// hardly any of a few servers is left out twice.
    public static let spreadAudit = 20
    /// The most users whose records one read asks for.
    public static let readBatch = 250
    /// The most users, and the most conversations, whose changes one tick tells.
    public static let tellBatch = 100
    /// The most users and conversations whose state is shown to a session in one piece.
    public static let showBatch = 100
    /// How often over a session may name, at once, as many users as it may watch; and in how many seconds it may name
    /// them all once more.
    public static let namesAtOnce = 4
    public static let secondsToNameAll = 4
    /// How long a device waits before it comes again: for a seat that a session of its own still holds, or to have its
    /// token looked at.
    static let busyPause = Duration.seconds(2)
    /// The most messages of one session and kind whose acknowledgement waits for Redis.
    public static let waitingMessages = 100
}
