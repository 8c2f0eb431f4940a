// The decisions of one event loop of a worker. Events go in with the time at which they happened; actions come out, to
// be carried out in order. A shard does no I/O and reads no clock, so a test, or a simulation of many workers, can
// drive it exactly as a worker does.

public import RollcallModel

/// The state and decisions of one shard: its sessions, the rooms they have joined, and the users they watch.
///
/// After each event, the caller carries out the returned actions. At the end of each event-loop tick, it calls
/// ``tickEnded(at:)``, which combines changes into fewer messages and reads, and carries out those actions too.
public final class Shard {
    enum Reminder: Hashable {
        case session(Session)
        case typing(Session)
        /// Held messages of a session may be processed.
        case held(Session)
        /// A deferred change of a device's state may be written, or of a user be shown.
        case state(Session)
        case watch(Watch)
        case room(Room)
        case members(Room)
        /// An outage may have settled; then everything is read again authoritatively.
        case settling
        /// Weaker states may be written under the new incarnation.
        case weakerStates
    }

    let settings: ShardSettings
    var redis: RedisState
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
    var actions: [ShardAction] = []
    /// Counters of what has happened so far.
    public internal(set) var tally = ShardTally()

    /// - Parameters:
    ///   - worker: the worker's name in `welcome` before it holds a lease.
    ///   - clock: the estimate of Redis time before the first heartbeat.
    public init(
        settings: ShardSettings, worker: String, random: some RandomNumberGenerator & Sendable,
        clock: RedisClock = RedisClock(time: Timestamp(milliseconds: 0), sent: Instant(nanoseconds: 0))
    ) {
        self.settings = settings
        sessions = SessionTable(random: random)
        redis = RedisState(worker: worker, clock: clock, settings)
        budgets = UserBudgets(settings.limits)
    }

    /// The number of welcomed and connected sessions.
    public var openSessionCount: Int { sessions.openCount }

    /// The number of typists last sent to sessions here, summed over all conversations.
    public var typistCount: Int { fanOut.typistCount }

    /// The number of sessions, including those in their grace period.
    public var sessionCount: Int { sessions.count }

    /// Returns the time until every worker has had a chance to write again what Redis may have lost in the last outage,
    /// or in one before this worker started; `nil` if all is settled. Until then, a session may exist without a record.
    public func settles(at now: Instant) -> Duration? {
        redis.recovery.rest(at: now)
    }

    /// Whether the worker holds a lease and its heartbeats succeed.
    public var takesWrites: Bool { redis.takesWrites }

    /// Whether Redis answers reads. It may refuse writes.
    public var answersReads: Bool { redis.answersReads }

    /// Returns the incarnations that need not be looked up after a read, and the worker's own.
    ///
    /// While heartbeats fail, all leases run out, although no worker may be dead. Until the next heartbeat reports the
    /// gap, this returns the incarnations that the last heartbeat found alive.
    public func known(at now: Instant) -> KnownWorkers { redis.known(at: now) }

    /// When ``timePassed(at:)`` next has something to do.
    public var nextDeadline: Instant? { timers.next }

    func take() -> [ShardAction] {
        defer { actions = [] }
        return actions
    }

    /// Returns the current Redis time, estimated from the last heartbeat.
    public func redisTime(at now: Instant) -> Timestamp { redis.time(at: now) }

    /// Handles elapsed time: carries out everything that is due.
    public func timePassed(at now: Instant) -> [ShardAction] {
        while let reminder = timers.popDue(at: now) {
            switch reminder {
            case .session(let session): sessionDue(session, at: now)
            case .typing(let session): typingDue(session, at: now)
            case .held(let session): takeHeld(session, at: now)
            case .state(let session): stateDue(session, at: now)
            case .watch(let watch): fanOut.presence.insert(watch)
            case .room(let room): roomDue(room, at: now)
            case .members(let room): fanOut.members.insert(room)
            case .settling: settlingDue(at: now)
            case .weakerStates: writeWeakerStates(at: now)
            }
        }
        return take()
    }

    /// Ends an event-loop tick: sends the changes of this tick together, and requests reads in batches. While
    /// ``hasMoreToTell`` is true, the next tick should follow as soon as the messages of this one are flushed.
    public func tickEnded(at now: Instant) -> [ShardAction] {
        sendTyping(at: now)
        sendMemberChanges(at: now)
        sendPresence(at: now)
        sendPendingUpdates()
        askForReads(at: now)
        readUnclearRooms()
        return take()
    }

    /// Whether more changes wait than one tick sends.
    public var hasMoreToTell: Bool {
        fanOut.hasChanges
    }

    func acknowledge(_ id: MessageID?, to session: Session) {
        guard let id, session.isConnected else { return }
        actions.append(.send(.ack(id), to: [session]))
    }

    func answer(_ session: Session, _ code: MessageError.Code, id: MessageID?, _ message: String) {
        guard session.isConnected else { return }
        actions.append(.send(.error(MessageError(code: code, id: id, message: message)), to: [session]))
    }
}
