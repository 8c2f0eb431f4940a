// Everything that one event loop of a worker decides. Events go in, each with the moment at which it happened;
// actions come out, to be carried out in order. The shard itself does no I/O and reads no clock, so that a test, or a
// simulation of many workers, drives it as well as a worker does.

public import RollcallModel

/// The decisions of one shard: its sessions, the rooms they have joined, and the users they watch.
///
/// After each event the caller carries out the returned actions, and at the end of the same event-loop tick those of
/// ``tickEnded(at:)``, where what belongs together is joined.
public struct Shard: Sendable {
    enum Reminder: Hashable, Sendable {
        case session(SessionKey)
        case typing(SessionKey)
        /// Messages of a session that wait may be taken, or members be shown to it.
        case held(SessionKey)
        case lookups(SessionKey)
        /// A device's state may be written again, or a user be shown.
        case state(SessionKey)
        case watch(WatchKey)
        case room(RoomKey)
        case members(RoomKey)
        /// Under an incarnation that is not the first, everything is read again after one lease.
        case authoritativeRead
        /// Under such an incarnation sessions that say less than `active` are asserted after those that say it.
        case assertTheRest
    }

    let settings: ShardSettings
    var random: any RandomNumberGenerator & Sendable
    var clock: RedisClock
    var leases = Leases()
    /// What Redis does for the worker at this moment.
    var redis = RedisStanding.away
    /// The worker's name in `welcome`, which stays while Redis is away.
    var workerName: String

    var sessions = SlotMap<Session>()
    var sessionKeys: [SessionID: SessionKey] = [:]
    /// Of each user whose sessions said hello.
    var sessionsOfUser: [UserID: [SessionKey]] = [:]
    var rooms = SlotMap<Room>()
    var roomKeys: [ConversationID: RoomKey] = [:]
    var watches = SlotMap<Watch>()
    var watchKeys: [UserID: WatchKey] = [:]

    var lookups: LookupBudgets
    var timers = Timers<Reminder>()
    var actions: [ShardAction] = []
    /// Sessions whose last step failed; the next heartbeat tries again.
    var blocked: Set<SessionKey> = []
    /// Stops that are on their way to Redis, or did not reach it.
    var pendingStops = PendingStops()
    /// Sessions without a connection.
    var lingering = Lingering()
    /// Whether a session was dropped of which Redis still holds a device: only a sweep of this incarnation removes it.
    var leavesDevicesToSweep = false
    var changedRooms = ChangeQueue<Room>()
    var changedMembers = ChangeQueue<Room>()
    var changedWatches = ChangeQueue<Watch>()
    /// What sessions are still to be shown, and those of them for whom that may go on when the tick ends.
    var backlogs: [SessionKey: Backlog] = [:]
    var sessionsToShow: Set<SessionKey> = []
    /// Rooms of which a change was published that nobody here can read.
    var roomsToRead: Set<RoomKey> = []
    var watchesToRead: Set<WatchKey> = []
    /// Watches whose read failed; the next heartbeat tries again.
    var failedReads: Set<WatchKey> = []
    /// How many have been answered, and when the last one was.
    var heartbeats = 0
    var lastHeartbeat: Instant?
    /// The last outage, until it is settled.
    var outage: Outage?
    /// Until then this worker, which has just started, cannot know whether there was an outage before.
    var newUntil: Instant?
    /// From then on what says less is said under the latest incarnation.
    var saysLessFrom = Instant(nanoseconds: 0)
    /// The incarnation under which everything was said last.
    var saidUnder: Incarnation?
    /// How far the audit has come.
    var audit = Audit()
    var drain: Drain?

    /// - Parameters:
    ///   - worker: how the worker is called in `welcome` before it holds a lease.
    ///   - clock: what counts as Redis's time before the first heartbeat tells it.
    public init(
        settings: ShardSettings, worker: String, random: some RandomNumberGenerator & Sendable,
        clock: RedisClock = RedisClock(time: Timestamp(milliseconds: 0), sent: Instant(nanoseconds: 0))
    ) {
        self.settings = settings
        self.random = random
        self.clock = clock
        workerName = worker
        lookups = LookupBudgets(settings)
    }

    /// What has happened so far.
    public internal(set) var tally = ShardTally()

    /// How many sessions are welcomed and connected.
    public internal(set) var openSessionCount = 0

    /// How many people sessions here were last told to be typing, over all conversations.
    public internal(set) var typistCount = 0

    /// How many sessions there are, those in grace included.
    public var sessionCount: Int { sessions.count }

    /// How long it takes until everybody has said again what Redis may have forgotten in the last outage, or in one
    /// before this worker started; `nil` if that is so. Until then a session may stand somewhere of which no record tells.
    public func settles(at now: Instant) -> Duration? {
        if let outage { return max(.zero, outage.settles - now) }
        return newUntil.flatMap { $0 > now ? $0 - now : nil }
    }

    /// The incarnation under which sessions are written; `nil` while nothing can be written.
    var incarnation: Incarnation? { redis.incarnation }

    /// Whether the worker holds a lease and Redis takes its writes.
    public var takesWrites: Bool { incarnation != nil }

    /// Whether Redis can be asked for what it holds, even if it refuses writes.
    public var answersReads: Bool { redis.answersReads }

    /// The incarnations that need not be looked up after a read, and the worker's own.
    ///
    /// While heartbeats fail everybody's leases run out, of whom nobody may be dead: before the next heartbeat tells
    /// that there was a gap, those count whom the last one found living.
    public func known(at now: Instant) -> KnownWorkers {
        let living = heartbeatsSucceed(at: now) ? leases.living(at: redisTime(at: now)) : leases.living
        return KnownWorkers(own: incarnation, living: living)
    }

    /// Whether no gap is known of that others might have, too.
    func heartbeatsSucceed(at now: Instant) -> Bool {
        lastHeartbeat.map { now - $0 <= settings.heartbeat * 2 } ?? false
    }

    /// When ``timePassed(at:)`` next has something to do.
    public var nextDeadline: Instant? { timers.next }

    mutating func take() -> [ShardAction] {
        defer { actions = [] }
        return actions
    }

    /// What time it is by Redis, as far as the last heartbeat tells.
    public func redisTime(at now: Instant) -> Timestamp { clock.time(at: now) }

    /// Time has passed: whatever is due by now happens.
    public mutating func timePassed(at now: Instant) -> [ShardAction] {
        while let reminder = timers.popDue(at: now) {
            switch reminder {
            case .session(let key): sessionDue(key, at: now)
            case .typing(let key): typingDue(key, at: now)
            case .held(let key): takeHeld(key, at: now)
            case .lookups(let key): showWaitingMembers(to: key, at: now)
            case .state(let key): stateDue(key, at: now)
            case .watch(let key): changedWatches.insert(key)
            case .room(let key): roomDue(key, at: now)
            case .members(let key): membersChanged(key)
            case .authoritativeRead: settlingDue(at: now)
            case .assertTheRest: assertTheRest(at: now)
            }
        }
        return take()
    }

    /// The event-loop tick ends: changes that came together are told together, and reads are asked for in batches.
    /// While the shard ``hasMoreToTell``, the next tick ends soon: as soon as what this one says has been flushed.
    public mutating func tickEnded(at now: Instant) -> [ShardAction] {
        tellRooms(at: now)
        tellMembers(at: now)
        tellWatchers(at: now)
        showBacklogs()
        askForReads(at: now)
        readUnclearRooms()
        return take()
    }

    /// Whether more changed than one tick tells.
    public var hasMoreToTell: Bool {
        !changedRooms.isEmpty || !changedMembers.isEmpty || !changedWatches.isEmpty
    }

    mutating func acknowledge(_ id: MessageID?, to key: SessionKey) {
        guard let id, sessions.read(key, { $0.isConnected }) == true else { return }
        actions.append(.send(.ack(id), to: [key]))
    }

    mutating func answer(_ key: SessionKey, _ code: MessageError.Code, id: MessageID?, _ message: String) {
        guard sessions[key]?.isConnected == true else { return }
        actions.append(.send(.error(MessageError(code: code, id: id, message: message)), to: [key]))
    }
}
