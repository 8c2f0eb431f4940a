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
    /// The least time between two changes of a user that are shown, and between two writes of a device's state.
    public var presenceCoalesce = Duration.milliseconds(500)
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

    package var bounds = Bounds()

    /// Limits that no configuration changes. Simulations make them small, so that each of them takes effect.
    package struct Bounds: Hashable, Sendable {
        /// How long an audit takes to come round to each session.
        package var auditCycle = ShardSettings.auditCycle
        /// The most sessions that one heartbeat's audit reads.
        package var auditBatch = 500
        /// The most users whose records one read asks for.
        package var readBatch = 250
        /// The most users, and the most conversations, whose changes one tick tells.
        package var tellBatch = 100
        /// The most users and conversations whose state is shown to a session in one piece.
        package var showBatch = 100
        /// A session may name at once this many times as many users as it may watch.
        package var namesAtOnce = 4
        /// The seconds in which a session may again name as many users as it may watch.
        package var secondsToNameAll = 4
        /// The most conversations of whose members a session has just asked to hear when its next `join` with presence is
        /// taken.
        package var membersAtOnce = 8
        /// The most repeated messages of one session whose acknowledgement waits, beside one for each user that it may
        /// watch and each conversation that it may join.
        package var waitingMessages = 100
        /// The most devices of one user that keep their presence without a connection: each makes every read and write of
        /// the user dearer.
        package var devicesInGrace = 16
        /// The most sessions without a connection, unless more than half as many were open at once.
        package var lingeringSessions = 10_000
        /// How many times as many sessions may linger as were ever open at once: all devices of a worker may leave
        /// together, come back, and leave again.
        package var lingeringPerOpen = 2

        package init() {}
    }

    public init() {}

    /// When a device whose connection was lost is taken offline: a little after the grace, for in the grace's last
    /// moment it may be back, and its new session is still to be written.
    var removal: Duration { grace > .zero ? grace + Self.writing : .zero }

    /// How long it may take until a session is written, in two steps.
    static let writing = Duration.milliseconds(250)

    /// How long an audit takes to come round to each session.
    public static let auditCycle = Duration.seconds(300)
    /// The sessions that each heartbeat's audit reads at least, if there are so many, where records are spread: enough that
    /// hardly any of a few servers is left out twice.
    public static let spreadAudit = 20
    /// How long a device waits before it comes again: for a seat that a session of its own still holds, or to have its
    /// token looked at.
    static let busyPause = Duration.seconds(2)
    /// The longest stall after which a session may catch up on what it was kept from sending.
    public static let longestStall = Duration.seconds(300)
    /// How long a session may keep sending more than its budget before it is closed.
    public static let overBudget = Duration.seconds(30)
    /// How long a `join` with presence keeps others of its session waiting, should Redis not answer it before.
    static let joinPause = Duration.milliseconds(250)
    /// How long a session over its budget waits before its next messages are taken, at least.
    static let slowedPause = Duration.milliseconds(100)
    /// The most messages of a session that wait to be taken: more than the edge reads while it is held.
    static let heldMessages = 8192
    /// How many messages a `token` counts as.
    static let tokenCost = 10
}
