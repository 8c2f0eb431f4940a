// The sessions of a shard, found by key, by name or by user. The indexes, the counts and the order in which sessions
// lost their connections change together with the sessions.

internal import RollcallModel

struct SessionTable {
    private var slots = SlotMap<Session>()
    private var keysByID: [SessionID: SessionKey] = [:]
    /// The welcomed sessions of each user, in the order of their welcomes.
    private var keysByUser: [UserID: [SessionKey]] = [:]
    private var lingering = Lingering()
    /// Set while the worker drains.
    private var drain: Drain?
    private var random: any RandomNumberGenerator & Sendable

    /// The number of welcomed and connected sessions.
    private(set) var openCount = 0

    init(random: some RandomNumberGenerator & Sendable) {
        self.random = random
    }

    var count: Int { slots.count }

    /// The number of welcomed sessions without a connection.
    var lingeringCount: Int { keysByID.count - openCount }

    /// The keys of all sessions, in slot order.
    var keys: [SessionKey] { slots.keys }

    /// Returns the key of the next session after a slot, and wraps around at the end; `nil` if there are no sessions.
    func next(after index: Int32) -> SessionKey? { slots.next(after: index) }

    /// Returns the welcomed session of this name.
    func key(of name: SessionName) -> SessionKey? {
        guard let key = keysByID[name.session], slots.read(key, { $0.recorder?.name == name }) == true else {
            return nil
        }
        return key
    }

    /// Returns the welcomed sessions of a user, in the order of their welcomes.
    func keys(of user: UserID) -> [SessionKey] { keysByUser[user] ?? [] }

    /// Returns a copy of a session; `nil` once it has been removed.
    subscript(key: SessionKey) -> Session? {
        _read { yield slots[key] }
    }

    /// Reads a session in place; `nil` once it has been removed.
    func read<Result>(_ key: SessionKey, _ read: (borrowing Session) -> Result) -> Result? {
        slots.read(key, read)
    }

    /// Changes a session in place, which must be there; see ``SlotMap/change(_:_:)``.
    @discardableResult
    mutating func change<Result>(_ key: SessionKey, _ change: (inout Session) -> Result) -> Result? {
        slots.change(key, change)
    }

    /// Changes a session in place, unless it was removed meanwhile.
    @discardableResult
    mutating func changeIfPresent<Result>(_ key: SessionKey, _ change: (inout Session) -> Result) -> Result? {
        slots.changeIfPresent(key, change)
    }

    // MARK: From the connection to the end

    /// Adds a session for a new connection.
    mutating func connected(at now: Instant) -> SessionKey {
        var session = Session(now: now)
        if let drain { session.leaves = drain.moment(at: now, using: &random) }
        return slots.insert(session)
    }

    /// Draws the ID of a session that is welcomed next.
    mutating func newID() -> SessionID { SessionID(using: &random) }

    /// Handles the welcome of a connected session, whose device has this name.
    mutating func opened(_ key: SessionKey, as recorder: DeviceRecorder) {
        assert(slots.read(key) { $0.recorder == nil && $0.isConnected } == true, "a session is welcomed once")
        slots.change(key) {
            $0.recorder = recorder
            $0.phase = .open
        }
        keysByID[recorder.name.session] = key
        keysByUser[recorder.name.user, default: []].append(key)
        openCount += 1
    }

    /// Handles that an open session loses its connection, and lingers.
    mutating func lostConnection(_ key: SessionKey) {
        assert(slots.read(key) { $0.phase == .open } == true, "an open session loses its connection once")
        lingering.append(key, open: openCount)
        openCount -= 1
    }

    /// Returns the session that has lingered longest, if more linger than allowed; the caller removes it.
    mutating func nextToDrop(_ bounds: ShardSettings.Bounds) -> SessionKey? {
        guard lingeringCount > lingering.limit(bounds) else {
            lingering.compact(count: lingeringCount) { slots.contains($0) }
            return nil
        }
        return lingering.popFirst { slots.contains($0) }
    }

    /// Removes a session that has no connection, or was never welcomed.
    mutating func remove(_ key: SessionKey) {
        guard let session = slots.remove(key) else { return assertionFailure("a session is removed once") }
        guard let name = session.recorder?.name else { return }
        assert(session.phase != .open, "an open session was removed")
        keysByID[name.session] = nil
        keysByUser[name.user]?.removeAll { $0 == key }
        if keysByUser[name.user]?.isEmpty == true { keysByUser[name.user] = nil }
    }

    // MARK: Draining

    /// Draws the moment at which each connected session leaves. Sessions that connect later get one too.
    ///
    /// - Returns: the connected sessions.
    mutating func drain(_ drain: Drain, at now: Instant) -> [SessionKey] {
        self.drain = drain
        let connected = keys.filter { slots.read($0) { $0.isConnected } == true }
        for key in connected {
            let moment = drain.moment(at: now, using: &random)
            slots.change(key) { $0.leaves = moment }
        }
        return connected
    }

    /// Draws the worker that a leaving session connects to next; `nil` if it returns to the address it has.
    mutating func drawDestination() -> ByteString? {
        drain?.destinations.randomElement(using: &random)
    }
}
