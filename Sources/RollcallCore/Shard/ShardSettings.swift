// The settings of a shard.

public import RollcallProtocol

/// The settings of a worker's decisions. The defaults equal those of the configuration.
public struct ShardSettings: Hashable, Sendable {
    public struct Typing: Hashable, Sendable {
        public var expiry = Duration.seconds(3)
        public var throttle = Duration.seconds(1)
        /// The minimum time between two messages to a room in which more than ``names`` users type.
        public var coalesce = Duration.milliseconds(250)
        /// The most typists named in a message.
        public var names = 10
    }

    public var typing = Typing()
    /// The minimum time between two shown changes of a user, and between two writes of a device's state.
    public var presenceCoalesce = Duration.milliseconds(500)
    /// The most users who are here that a message names.
    public var hereNames = 50
    /// How long a device keeps its presence after its connection was lost.
    public var grace = Duration.seconds(5)
    /// The time in which a new connection must send its hello.
    public var hello = Duration.seconds(20)
    /// The interval of pings to each connection. Here it is only sent to clients; the edge sends the pings.
    public var ping = Duration.seconds(10)
    /// Up to how long a client that has lost its connection waits at random before it reconnects, at first.
    public var reconnect = Duration.milliseconds(1500)
    /// Whether records are spread over several servers, each of which can lose its data alone.
    public var isSpread = false
    /// `conversations.default`: what sessions may join whose token does not say it.
    public var join = JoinRight.all
    /// Whether an app's server is asked who may join conversations without members (`access.url`).
    public var asksAccess = false
    /// `access.watch`: whom sessions may ask about whose token does not say it.
    public var watch = WatchRight.all
    /// `person.self`: what devices may set of their own user.
    public var personSelf = PersonSelf.settings
    /// The longest member list that lets its members ask about one another.
    public var sharedMembers = 100
    public var limits = ServerMessage.Limits(
        watchedUsers: 2000, joinedConversations: 500, messageBytes: 65536, messageRate: 50, messageBurst: 200)

    package var bounds = Bounds()

    /// Limits that no configuration changes, but for the devices of a user. Simulations lower them so that each takes effect.
    package struct Bounds: Hashable, Sendable {
        /// The time in which an audit reads each session once.
        package var auditCycle = ShardSettings.auditCycle
        /// The most sessions that the audit reads per heartbeat.
        package var auditBatch = 500
        /// The most users in one presence read.
        package var readBatch = 250
        /// The most users, and the most conversations, whose changes one tick sends.
        package var tellBatch = 100
        /// The most users and conversations whose state is sent to a session in one piece.
        package var showBatch = 100
        /// After about how many bytes of state such a piece ends, and after how many of changes a tick does. A reader of 1 MB/s
        /// takes either in a fraction of a second.
        package var showBytes = 65_536
        package var tickBytes = 262_144
        /// The most acknowledgements of one session that wait, in addition to one for each user that it may watch and
        /// each conversation that it may join.
        package var waitingMessages = 100
        /// The most devices of one user, with and without a connection (`limits.sessions_per_user`). Each makes all reads and
        /// writes of the user more expensive. A new one takes the place of one whose connection is lost.
        package var devicesPerUser = 20
        /// The most that one worker holds of what apps' servers say of who is here.
        package var backendEntries = ShardSettings.backendEntries
        /// The most sessions without a connection, unless more than half as many were open at once.
        package var lingeringSessions = 10_000
        /// The number of sessions that may linger, as a multiple of the most that were open at once. All devices of a
        /// worker may leave together, come back, and leave again.
        package var lingeringPerOpen = 2

        package init() {}
    }

    public init() {}

    /// The time after which a device whose connection was lost goes offline. This is slightly longer than the grace
    /// period: a device that reconnects in its last moment still has to be written.
    var removal: Duration { grace > .zero ? grace + Self.writing : .zero }

    /// The time allowed for writing a session, in two steps.
    static let writing = Duration.milliseconds(250)

    /// The time in which an audit reads each session once.
    public static let auditCycle = Duration.seconds(300)
    /// The minimum number of sessions that each heartbeat's audit reads if records are spread over several servers.
    /// With a few servers, it is unlikely that two audits in a row miss one.
    public static let spreadAudit = 20
    /// The delay before a device reconnects after close code `busy`: its previous session may still count towards a
    /// limit, or its token could not be verified yet.
    public static let busyPause = Duration.seconds(2)
    /// For how long after a revocation a new session that shows an older token is asked for a fresh one.
    static let freshRevocation = Duration.seconds(60)
    /// How long a `get` waits for conversations that its session is joining, and that may share users with it.
    static let longestWaitForJoins = Duration.seconds(2)
    /// The time between two changes of a user's settings, after the first four.
    ///
    /// Limit: how often a device may change its user's settings, after four at once.
    static let personPace = Duration.seconds(5)
    /// The minimum time that a session waits whose user is over the budget, before its next messages are processed.
    static let slowedPause = Duration.milliseconds(100)
    /// The most messages of a session that wait to be processed. The edge reads fewer while the session is held.
    ///
    /// Limit: messages of a session that wait for its user's budget, in a server that embeds a node. More close the
    /// session with 4103. On a WebSocket, the worker stops reading instead.
    static let heldMessages = 8192
    /// The most that one worker holds of what apps' servers say of who is here.
    ///
    /// Limit: users that a worker shows as being here for servers. More get 429.
    static let backendEntries = 10_000
    /// The most sessions that one request lists.
    static let listBatch = 1000
}
