// What happens to Redis and to the worker's lease, as a shard learns it.

public import RollcallModel

extension Shard {
    /// The worker holds a lease under a new incarnation: every session is asserted under it, and everything shown is
    /// read again, since Redis may have forgotten or gone back.
    public mutating func incarnationBegan(
        _ incarnation: Incarnation, isFirst: Bool, _ snapshot: LeaseSnapshot, until: Timestamp, clock: RedisClock,
        at now: Instant
    ) -> [ShardAction] {
        // On the clock as it was, or as it is, if that was set back and the leases with it.
        let lastBeat = lastHeartbeat.map { min(redisTime(at: $0), clock.time(at: $0)) }
        let former = Incarnation(name: workerName)
        redis = .takesWrites(incarnation, until: until)
        // The former incarnation is swept.
        leavesDevicesToSweep = false
        workerName = incarnation.name
        self.clock = clock
        lastHeartbeat = now
        if leases.areSetBack(by: snapshot) { clockSetBack() }
        _ = leases.read(snapshot)
        blocked = []
        for key in sessions.keys {
            sessions[key]?.isStateDeferred = false
            let isHeldBack = !isFirst && sessions[key]?.saysMost == false
            sessions[key]?.recorder?.asserted(heldBack: isHeldBack, lastBeat: lastBeat)
            advance(key, at: now)
        }
        payOwedStops(at: now)
        readAllAgain(authoritatively: false)
        if isFirst {
            saidUnder = incarnation
            newUntil = now + Patience.beforeJudging(lease: settings.lease)
        } else {
            settle(since: lastBeat, at: now)
            saysLessFrom = saysLess(after: former, snapshot, at: now)
            timers.remind(.assertTheRest, at: saysLessFrom)
        }
        return take()
    }

    /// A heartbeat renewed the lease and read all others.
    ///
    /// - Parameter afterGap: whether more than two heartbeats had passed. Others may have lost their leases as this
    ///   worker almost did, so that it is as if Redis had been away.
    public mutating func leaseRenewed(
        _ snapshot: LeaseSnapshot, until: Timestamp, clock: RedisClock, afterGap: Bool, at now: Instant
    ) -> [ShardAction] {
        self.clock = clock
        let refusedWrites = redis.renewed(until: until)
        heartbeats += 1
        lastHeartbeat = now
        if afterGap || refusedWrites { settle(at: now) }
        if leases.areSetBack(by: snapshot) {
            clockSetBack()
            readAllAgain(authoritatively: true)
        }
        if leases.read(snapshot), outage == nil { watchesToRead.formUnion(watchKeys.values) }
        watchesToRead.formUnion(failedReads)
        failedReads = []
        // While Redis refused writes, no session was written, whether a step of it had failed or not.
        let unwritten = refusedWrites ? sessions.keys : blocked.sorted { $0.index < $1.index }
        blocked = []
        for key in unwritten {
            sessions[key]?.recorder?.retry()
            // The device may be back at another worker, which can say so only now: a removal waits for the next
            // heartbeat.
            if refusedWrites, sessions.read(key, { $0.phase == .ending }) == true {
                blocked.insert(key)
            } else {
                advance(key, at: now)
            }
        }
        payOwedStops(at: now)
        if leavesDevicesToSweep {
            leavesDevicesToSweep = false
            actions.append(.assertAnew(.sessionsDropped))
        }
        retryRoomReads()
        continueAudit(at: now)
        return take()
    }

    /// Redis cannot be reached, or the lease may be lost: nothing can be written until the next incarnation.
    public mutating func redisLost(at now: Instant) -> [ShardAction] {
        redis = .away
        for key in sessions.keys { listen(to: key, at: now) }
        return take()
    }

    /// Redis answers, and refused heartbeats because it takes no writes: nothing is written until a heartbeat succeeds.
    /// What Redis holds is still read, by the rules of an outage: no worker can renew its lease, and none is dead for
    /// that.
    public mutating func writesRefused(at now: Instant) -> [ShardAction] {
        let hadBegun = redis.refusesWrites
        if redis.refusedWrites() { readAllAgain(authoritatively: false) }
        if !hadBegun {
            settle(since: lastHeartbeat.map { redisTime(at: $0) }, at: now)
            for key in sessions.keys { listen(to: key, at: now) }
        }
        watchesToRead.formUnion(failedReads)
        failedReads = []
        retryRoomReads()
        return take()
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

    /// One of several servers that hear changes was lost, or a channel is on its way from one to another: as
    /// ``subscriptionsLost()``, for this channel alone.
    public mutating func subscriptionLost(_ topic: Topic) {
        switch topic {
        case .presence(let user):
            if let key = watchKeys[user] { watches[key]?.phase = .subscribing }
        case .typing(let conversation), .members(let conversation):
            guard let key = roomKeys[conversation] else { break }
            var missing: Set<Topic> = [topic]
            if case .subscribing(let others) = rooms[key]?.phase { missing.formUnion(others) }
            rooms[key]?.phase = .subscribing(missing: missing)
        case .worker:
            break
        }
    }

    /// A channel is confirmed: a read that begins now misses nothing.
    public mutating func subscribed(_ topic: Topic, at now: Instant) -> [ShardAction] {
        switch topic {
        case .presence(let user):
            guard let key = watchKeys[user] else { break }
            watches[key]?.phase = .reading
            watchesToRead.insert(key)
        case .typing(let conversation), .members(let conversation):
            if let key = roomKeys[conversation] { roomSubscribed(key, topic) }
        case .worker:
            break
        }
        return take()
    }

    /// Some time after the latest incarnation began every worker has said what it holds, and what is read counts; but
    /// not while heartbeats fail, and with them perhaps all that others say: the next one tells.
    mutating func settlingDue(at now: Instant) {
        guard let outage else { return }
        guard now >= outage.settles, heartbeatsSucceed(at: now) else {
            return timers.remind(.authoritativeRead, at: max(outage.settles, now + settings.heartbeat))
        }
        self.outage = nil
        readAllAgain(authoritatively: true)
    }

    /// Some time after the latest incarnation began, what says more has been said.
    mutating func assertTheRest(at now: Instant) {
        guard now >= saysLessFrom else { return timers.remind(.assertTheRest, at: saysLessFrom) }
        for state in [.active, .idle, .background] as [DeviceState] { release(state, at: now) }
        let removesFrom = saysLessFrom + Patience.beforeRemoving
        guard now >= removesFrom else { return timers.remind(.assertTheRest, at: removesFrom) }
        release(nil, at: now)
        saidUnder = incarnation ?? saidUnder
    }

    private mutating func release(_ state: DeviceState?, at now: Instant) {
        for key in sessions.keys where sessions[key]?.recorder?.state == state {
            sessions[key]?.recorder?.released()
            advance(key, at: now)
        }
    }

    /// When what says less is said under a new incarnation. Redis may have forgotten what says more, so that comes first.
    /// But where Redis knows the lease still under which all was said, it is in time: when that has passed, others
    /// judge. And where it knows the former lease, under which this waited already, it has forgotten nothing since.
    private func saysLess(after former: Incarnation, _ snapshot: LeaseSnapshot, at now: Instant) -> Instant {
        var turn = now + Patience.beforeSayingLess
        if former != saidUnder, snapshot.leases[former] != nil { turn = min(turn, saysLessFrom) }
        if let end = saidUnder.flatMap({ snapshot.leases[$0] }), end >= snapshot.time {
            turn = min(turn, clock.instant(of: end.advanced(by: .zero - ShardSettings.writing)))
        }
        return max(now, turn)
    }

    private mutating func settle(since lastBeat: Timestamp? = nil, at now: Instant) {
        let settles = now + Patience.beforeJudging(lease: settings.lease)
        // Over a further outage the first one's counts: it is not settled yet who outlived that.
        let first = [outage?.lastBeat, lastBeat].compactMap { $0 }.min()
        outage = Outage(settles: settles, lastBeat: first)
        timers.remind(.authoritativeRead, at: settles)
    }

    private mutating func readAllAgain(authoritatively: Bool) {
        for key in watches.keys { watches[key]?.nextReadIsAuthoritative = authoritatively }
        watchesToRead.formUnion(watchKeys.values)
        for key in rooms.keys { readRoomAgain(key) }
    }

    private mutating func clockSetBack() {
        for key in watches.keys { watches[key]?.clockSetBack() }
    }

    /// Asks for the users to be read, but for those whose channel is not confirmed: its confirmation asks again.
    mutating func askForReads(at now: Instant) {
        guard answersReads, !watchesToRead.isEmpty else { return }
        var ordinary: [UserID] = []
        var authoritative: [UserID] = []
        for key in watchesToRead.sorted(by: { $0.index < $1.index }) {
            guard let read = watches[key]?.readBegan() else { continue }
            if read.isAuthoritative { authoritative.append(read.user) } else { ordinary.append(read.user) }
        }
        watchesToRead = []
        let known = known(at: now)
        askForReads(of: ordinary, isAuthoritative: false, known: known)
        askForReads(of: authoritative, isAuthoritative: true, known: known)
    }

    private mutating func askForReads(of users: [UserID], isAuthoritative: Bool, known: KnownWorkers) {
        for start in stride(from: 0, to: users.count, by: settings.bounds.readBatch) {
            let batch = Array(users[start..<min(start + settings.bounds.readBatch, users.count)])
            actions.append(.readPresence(batch, isAuthoritative: isAuthoritative, known: known))
        }
    }

    private mutating func payOwedStops(at now: Instant) {
        guard takesWrites else { return }
        for stop in pendingStops.takeOwed(at: redisTime(at: now)) {
            pendingStops.sent(stop)
            actions.append(.stopTyping(stop))
        }
    }
}
