// The sessions of a shard, found by name or by user, and numbered. The indexes, the counts and the order in which sessions
// lost their connections change together with the sessions.

internal import HeapModule
internal import RollcallProtocol

/// All sessions of a shard. ``Sessions`` and ``DeviceRecords`` change it, and the others look sessions up.
final class SessionTable {
    /// By number; `nil` where a number is free.
    private var numbered: [Session?] = []
    private var free = Heap<Int32>()
    private var byID: [SessionID: Session] = [:]
    /// The welcomed sessions of each user, in the order of their welcomes.
    private var byUser: [UserID: [Session]] = [:]
    private var lingering = Lingering()
    /// Set while the worker drains.
    private var drain: Drain?
    /// Where sessions go that leave.
    private var destinations: [Destination] = []
    private var random: any RandomNumberGenerator & Sendable

    /// The number of welcomed and connected sessions.
    private(set) var openCount = 0

    init(random: some RandomNumberGenerator & Sendable) {
        self.random = random
    }

    var count: Int { numbered.count - free.count }

    /// The number of welcomed sessions without a connection.
    var lingeringCount: Int { byID.count - openCount }

    /// All sessions, by number.
    var all: [Session] { numbered.compactMap(\.self) }

    /// Returns the session that follows a number, and wraps around at the end; `nil` if there are no sessions.
    func next(after number: Int32) -> Session? {
        let places = (0..<numbered.count).lazy.map { (Int(number) + 1 + $0) % self.numbered.count }
        return places.lazy.compactMap { self.numbered[$0] }.first
    }

    /// Returns the welcomed session of this name.
    func named(_ name: SessionName) -> Session? {
        byID[name.session].flatMap { $0.recorder?.name == name ? $0 : nil }
    }

    /// The users of welcomed sessions, in order.
    var users: [UserID] { byUser.keys.sorted() }

    /// Returns the welcomed sessions of a user, in the order of their welcomes.
    func of(_ user: UserID) -> [Session] { byUser[user] ?? [] }

    // MARK: From the connection to the end

    /// Adds a session for a new connection, with the smallest free number.
    func connected(_ peer: any Peer, at now: Instant) -> Session {
        let session = Session(
            number: free.popMin() ?? Int32(numbered.count), peer: peer,
            leaves: drain?.moment(at: now, using: &random), now: now)
        if Int(session.number) < numbered.count {
            numbered[Int(session.number)] = session
        } else {
            numbered.append(session)
        }
        return session
    }

    /// Draws the ID of a session that is welcomed next.
    /// A random part, from 0 to 1.
    func chance() -> Double { Double.random(in: 0..<1, using: &random) }

    func newID() -> SessionID { SessionID(using: &random) }

    /// Handles the welcome of a connected session, whose device has this name.
    func opened(_ session: Session, as recorder: DeviceRecorder) {
        let others = of(recorder.name.user)
        session.welcomed(as: recorder, after: others.first { $0.recorder?.name.device == recorder.name.device })
        byID[recorder.name.session] = session
        byUser[recorder.name.user, default: []].append(session)
        openCount += 1
    }

    /// Handles that an open session loses its connection, and lingers.
    func lostConnection(_ session: Session) {
        assert(session.phase == .open, "an open session loses its connection once")
        lingering.append(session, open: openCount)
        openCount -= 1
    }

    /// Returns the session that has lingered longest, if more linger than allowed; the caller removes it.
    func nextToDrop(_ bounds: ShardSettings.Bounds) -> Session? {
        lingeringCount > lingering.limit(bounds) ? lingering.popFirst() : nil
    }

    /// Removes a session that has no connection, or was never welcomed.
    func remove(_ session: Session) {
        session.ended()
        numbered[Int(session.number)] = nil
        free.insert(session.number)
        guard let name = session.recorder?.name else { return }
        byID[name.session] = nil
        byUser[name.user]?.removeAll { $0 == session }
        if byUser[name.user]?.isEmpty == true { byUser[name.user] = nil }
        lingering.compact(count: lingeringCount)
    }

    // MARK: Draining

    /// Draws the moment at which each connected session leaves. Sessions that connect later get one too.
    ///
    /// - Returns: the connected sessions.
    func drain(_ drain: Drain, at now: Instant) -> [Session] {
        (self.drain, destinations) = (drain, drain.destinations)
        let connected = all.filter(\.isConnected)
        for session in connected { session.leaves(at: drain.moment(at: now, using: &random)) }
        return connected
    }

    /// Draws the moments at which so many sessions leave, those whose device is not active first. The worker goes on, and whoever
    /// connects later stays.
    ///
    /// - Returns: the sessions, which are fewer if some leave already, or are in this process.
    func shed(_ count: Int, _ drain: Drain, at now: Instant) -> [Session] {
        guard self.drain == nil else { return [] }
        destinations = drain.destinations
        let movable = all.filter { $0.isConnected && $0.peer?.canMove == true }
        let staying = movable.filter { $0.leaves == nil }.shuffled(using: &random)
        let idleFirst = staying.filter { !$0.isActiveAndConnected } + staying.filter(\.isActiveAndConnected)
        let leaving = Array(idleFirst.prefix(max(0, count - (movable.count - staying.count))))
        for session in leaving { session.leaves(at: drain.moment(at: now, using: &random)) }
        return leaving
    }

    /// How many sessions can be moved to another worker.
    var movableCount: Int { all.count { $0.isConnected && $0.peer?.canMove == true } }

    /// Draws the worker that a leaving session connects to next; `nil` if it returns to the address it has.
    func drawDestination() -> ByteString? {
        var place = Double.random(in: 0..<1, using: &random) * destinations.reduce(0) { $0 + $1.weight }
        for destination in destinations {
            place -= destination.weight
            if place < 0 { return destination.address }
        }
        return destinations.last?.address
    }
}

// MARK: Sessions without a connection

// Sessions without a connection, oldest first: those in their grace period, and those whose device is gone but not
// written yet. Each usually ends within seconds; their number is limited.

/// Sessions in the order in which they lost their connections.
struct Lingering {
    private var sessions: [Session] = []
    /// The index of the first one that was not taken.
    private var first = 0
    private var mostOpen = 0

    /// The most sessions that may linger.
    func limit(_ bounds: ShardSettings.Bounds) -> Int {
        max(bounds.lingeringSessions, bounds.lingeringPerOpen * mostOpen)
    }

    /// - Parameter open: the number of open sessions before this one ended.
    mutating func append(_ session: Session, open: Int) {
        mostOpen = max(mostOpen, open)
        sessions.append(session)
    }

    /// Removes and returns the session that has lingered longest.
    mutating func popFirst() -> Session? {
        while first < sessions.count {
            defer { first += 1 }
            if !sessions[first].isOver { return sessions[first] }
        }
        return nil
    }

    /// Lets go of sessions that are over: all if no other lingers, otherwise once there are many.
    ///
    /// - Parameter count: the number of sessions that linger.
    mutating func compact(count: Int) {
        guard count > 0 else { return (sessions, first) = ([], 0) }
        while first < sessions.count, sessions[first].isOver { first += 1 }
        let rest = sessions.count - first
        guard first > rest + 64 || rest > 2 * count + 64 else { return }
        sessions = sessions[first...].filter { !$0.isOver }
        first = 0
    }
}
