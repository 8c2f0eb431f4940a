// The decisions of one event loop of a worker. A shard does no I/O and reads no clock: it asks its store, tells its peers and
// has its host wake it. So a test, or a simulation of many workers, can drive it exactly as a worker does.

internal import RollcallProtocol

/// Something that happens to a shard, at a moment.
public typealias ShardEvent = (_ shard: Shard, _ now: Instant) -> Void

/// The state and decisions of one shard: its sessions, the rooms they have joined, and the users they watch. Used on one
/// thread only, its host's.
///
/// All that happens is an event of its own: ``after(_:)``. At the end of each event-loop tick, the host calls ``endTick()``,
/// which combines changes into fewer messages and reads.
public final class Shard {
    enum Reminder: Hashable {
        case session(Session)
        case typing(Session)
        /// Messages of a user's sessions that wait may be processed.
        case turns(UserID)
        /// A deferred change of a device's state may be written, or of a user be shown.
        case state(Session)
        case watch(Watch)
        case room(Room)
        case members(Room)
        /// Weaker states may be written under the new incarnation.
        case weakerStates
    }

    /// Set before the first event.
    public unowned var host: (any Host)!
    private let directStore: any PresenceStore
    /// Sessions to list with one request; see ``list(_:of:under:)``.
    private var toList: [(name: SessionName, session: Session)] = []
    /// Whether an event happens at this moment. What comes meanwhile has to wait.
    public private(set) var isInEvent = false
    private var endsTickSoon = false
    private var wakesAt: Instant?
    private var deliveries = 0

    let settings: ShardSettings
    /// What the loop of the lease last published.
    public internal(set) var redis: RedisState
    var weakerStates = WeakerStates()
    var sessions: SessionTable
    /// The conversations that sessions have joined or are joining.
    var rooms = Directory<ConversationID, Room>()
    /// The users that sessions watch.
    var watches = Directory<UserID, Watch>()
    var reads = DueReads()
    var repairs = WriteRepairs()
    var fanOut = FanOut()
    var budgets: UserBudgets
    var timers = Timers<Reminder>()
    /// Counters of what has happened so far.
    public internal(set) var tally = ShardTally()

    /// - Parameters:
    ///   - worker: the worker's name in `welcome` before it holds a lease.
    ///   - clock: the estimate of Redis time before the first heartbeat.
    public init(
        settings: ShardSettings, worker: String, store: any PresenceStore,
        random: some RandomNumberGenerator & Sendable,
        clock: RedisClock = .unknown
    ) {
        self.settings = settings
        directStore = store
        sessions = SessionTable(random: random)
        redis = RedisState(worker: worker, lease: .zero, heartbeat: .zero, clock: clock)
        budgets = UserBudgets(settings.limits)
    }

    /// The number of welcomed and connected sessions.
    public var openSessionCount: Int { sessions.openCount }

    /// The number of typists last sent to sessions here, summed over all conversations.
    public var typistCount: Int { fanOut.typistCount }

    /// The number of sessions, including those in their grace period.
    public var sessionCount: Int { sessions.count }

    /// When ``timePassed(at:)`` next has something to do.
    public var nextDeadline: Instant? { timers.next }

    /// Handles elapsed time: does everything that is due.
    public func timePassed(at now: Instant) {
        wakesAt = nil
        while let reminder = timers.popDue(at: now) {
            switch reminder {
            case .session(let session): sessionDue(session, at: now)
            case .typing(let session): typingDue(session, at: now)
            case .turns(let user): takeTurns(of: user, at: now)
            case .state(let session): stateDue(session, at: now)
            case .watch(let watch): fanOut.presence.insert(watch)
            case .room(let room): roomDue(room, at: now)
            case .members(let room): fanOut.members.insert(room)
            case .weakerStates: writeWeakerStates(at: now)
            }
        }
    }

    /// Whether more changes wait than one tick sends.
    public var hasMoreToTell: Bool {
        fanOut.hasChanges
    }
}

// MARK: Events

extension Shard {
    /// Lets an event happen. Events of peers, replies and whatever else happens must not come inside another.
    public func after(_ event: ShardEvent) {
        eventBegins()
        event(self, host.now)
        eventEnds()
        endTickSoon()
    }

    /// Ends an event-loop tick: sends the changes of this tick together, and requests reads in batches. If there is more to
    /// tell, the next tick follows as soon as the messages of this one are flushed.
    public func endTick() {
        endsTickSoon = false
        eventBegins()
        let now = host.now
        sendTyping(at: now)
        sendMemberChanges(at: now)
        sendPresence(at: now)
        sendPendingUpdates()
        askForReads(at: now)
        readUnclearRooms()
        eventEnds()
        if hasMoreToTell { endTickSoon() }
    }

    private func eventBegins() {
        assert(!isInEvent, "an event comes inside another")
        isInEvent = true
    }

    private func eventEnds() {
        sendLists()
        isInEvent = false
        wakeInTime()
    }

    private func endTickSoon() {
        guard !endsTickSoon else { return }
        endsTickSoon = true
        host.endTickSoon()
    }

    /// Has the host wake the shard when it next has something to do.
    func wakeInTime() {
        guard let next = timers.next else { return }
        if let wakesAt, wakesAt <= next { return }
        wakesAt = next
        host.wake(at: next)
    }
}

// MARK: Redis and the sessions

extension Shard {
    /// Redis. What waits to be listed is asked for first, so that requests keep their order.
    var store: any PresenceStore {
        sendLists()
        return directStore
    }

    /// Puts a session on an incarnation's list. Sessions that are listed one after the other, as after an outage, are listed
    /// with one request.
    func list(_ name: SessionName, of session: Session, under incarnation: Incarnation) {
        toList.append((name, session))
        if toList.count == ShardSettings.listBatch { sendLists() }
    }

    private func sendLists() {
        guard !toList.isEmpty, let incarnation = redis.incarnation else { return }
        let until = redis.until
        let sessions = toList
        toList = []
        directStore.list(sessions.map(\.name), of: incarnation, until: until) { [self] reply in
            after { shard, now in
                for (name, session) in sessions {
                    shard.listed(reply, name, session, under: incarnation, at: now)
                }
            }
        }
    }

    func deliver(_ message: ServerMessage, to session: Session) {
        deliver(message, to: CollectionOfOne(session))
    }

    /// Sends a message, which is encoded once for all of these sessions.
    ///
    /// - Parameters:
    ///   - spared: sessions that are behind, and get a newer state later. For slow-reader limits, the message counts as if it
    ///     were queued for them.
    ///   - counting: whether it counts towards slow-reader limits.
    func deliver(
        _ message: ServerMessage, to sessions: some Collection<Session>, sparing spared: [Session] = [],
        counting: Bool = true
    ) {
        deliveries += 1
        let delivery = Delivery(message: message, number: deliveries)
        var receivers = 0
        for session in sessions where session.peer?.send(delivery, counting: counting) == true { receivers += 1 }
        for session in spared { session.peer?.spare(delivery) }
        tally.delivered(message, to: receivers, of: sessions.count)
    }

    func acknowledge(_ id: MessageID?, to session: Session) {
        guard let id, session.isConnected else { return }
        deliver(.ack(id), to: session)
    }

    func answer(_ session: Session, _ code: MessageError.Code, id: MessageID?, _ message: String) {
        guard session.isConnected else { return }
        deliver(.error(MessageError(code: code, id: id, message: message)), to: session)
    }
}
