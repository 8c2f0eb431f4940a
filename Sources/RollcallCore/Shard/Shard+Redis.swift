// What happens to Redis and to the worker's lease, as a shard learns it.

public import RollcallModel

extension Shard {
    /// The worker holds a lease under a new incarnation: every session is asserted under it, and everything shown is
    /// read again, since Redis may have forgotten or gone back.
    public mutating func incarnationBegan(
        _ incarnation: Incarnation, isFirst: Bool, until: Timestamp, clock: RedisClock, at now: Instant
    ) -> [ShardAction] {
        self.incarnation = incarnation
        workerName = incarnation.name
        self.clock = clock
        writesUntil = until
        blocked = []
        for key in sessions.keys {
            sessions[key]?.recorder?.asserted()
            advance(key, at: now)
        }
        payOwedStops(at: now)
        readAllAgain(authoritatively: false)
        if !isFirst { timers.remind(.authoritativeRead, at: now + settings.lease) }
        return take()
    }

    /// A heartbeat renewed the lease and read all others.
    public mutating func heartbeatAnswered(
        _ snapshot: LeaseSnapshot, until: Timestamp, clock: RedisClock, at now: Instant
    ) -> [ShardAction] {
        self.clock = clock
        writesUntil = until
        if !leases.read(snapshot).isEmpty { usersToRead.formUnion(watchKeys.keys) }
        for key in blocked {
            sessions[key]?.recorder?.retry()
            advance(key, at: now)
        }
        blocked = []
        payOwedStops(at: now)
        retryRoomReads()
        return take()
    }

    /// Redis cannot be reached, or the lease may be lost: nothing can be written until the next incarnation.
    public mutating func redisLost() {
        incarnation = nil
    }

    /// The connection that hears changes was lost: until each channel is confirmed and read again, what is shown
    /// stays as it is.
    public mutating func subscriptionsLost() {
        for key in rooms.keys {
            guard let topics = rooms[key]?.topics else { continue }
            rooms[key]?.phase = .subscribing(missing: Set(topics))
        }
        for key in watches.keys { watches[key]?.phase = .subscribing }
    }

    /// A channel is confirmed: a read that begins now misses nothing.
    public mutating func subscribed(_ topic: Topic, at now: Instant) -> [ShardAction] {
        switch topic {
        case .presence(let user):
            guard let key = watchKeys[user] else { break }
            watches[key]?.phase = .reading
            usersToRead.insert(user)
        case .typing(let conversation), .members(let conversation):
            if let key = roomKeys[conversation] { roomSubscribed(key, topic) }
        case .worker:
            break
        }
        return take()
    }

    mutating func readAllAgain(authoritatively: Bool) {
        readsAreAuthoritative = authoritatively
        usersToRead.formUnion(watchKeys.keys)
        for key in rooms.keys { readRoomAgain(key) }
    }

    mutating func askForReads() {
        guard isRedisAvailable, !usersToRead.isEmpty else { return }
        let users = usersToRead.filter { user in
            watchKeys[user].flatMap { watches[$0] }.map { $0.phase != .subscribing } ?? false
        }.sorted()
        for start in stride(from: 0, to: users.count, by: ShardSettings.readBatch) {
            let batch = Array(users[start..<min(start + ShardSettings.readBatch, users.count)])
            actions.append(.readPresence(batch, isAuthoritative: readsAreAuthoritative))
        }
        usersToRead = []
        readsAreAuthoritative = false
    }

    private mutating func payOwedStops(at now: Instant) {
        guard isRedisAvailable else { return }
        for stop in owedStops where stop.expiry > redisTime(at: now) {
            actions.append(.stopTyping(stop, for: nil, id: nil))
        }
        owedStops = []
    }
}
