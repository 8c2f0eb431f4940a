// Changes of Redis and of the worker's lease, as a shard handles them.

public import RollcallProtocol

extension Shard {
    /// Handles a change of the worker's lease.
    public func told(_ news: LeaseNews, at now: Instant) {
        switch news {
        case .began(let incarnation, let isFirst, let snapshot, let until, let clock):
            incarnationBegan(incarnation, isFirst: isFirst, snapshot, until: until, clock: clock, at: now)
        case .renewed(let incarnation, let snapshot, let until, let clock, let afterGap):
            leaseRenewed(of: incarnation, snapshot, until: until, clock: clock, afterGap: afterGap, at: now)
        case .heartbeatsFail: heartbeatsFail(at: now)
        case .lost: redisLost(at: now)
        }
    }

    /// Handles a message to the worker, which may concern a session of this shard.
    public func noticed(_ notice: WorkerNotice, at now: Instant) {
        guard let name = notice.session, let session = sessions.named(name) else { return }
        switch notice {
        case .replaced: end(session, .replaced, at: now)
        case .sentAway: end(session, .sentAway, at: now)
        }
    }

    /// Handles what was published. What an unreadable change is about is read from Redis.
    public func heard(_ payload: UnsafeRawBufferPointer, on topic: Topic, at now: Instant) {
        switch topic {
        case .typing(let conversation):
            guard let change: TypingChange = parsed(payload) else { return typingUnreadable(in: conversation) }
            typingChanged(change, in: conversation, at: now)
        case .presence(let user):
            guard let change: PresenceChange = parsed(payload) else { return presenceUnreadable(of: user) }
            presenceChanged(change, at: now)
        case .members(let conversation):
            memberChanged(parsed(payload) ?? .reset, in: conversation, at: now)
        case .worker:
            if let notice = WorkerNotice(payload: payload) { host.received(notice) }
        }
    }

    private func parsed<Change: JSONReadable>(_ payload: UnsafeRawBufferPointer) -> Change? {
        let change = try? Change(jsonText: payload)
        if change == nil { host.couldNotRead(Change.self) }
        return change
    }

    /// Handles a new incarnation. All sessions are written again under it, and everything shown is read again, because
    /// Redis may have lost data or gone back to an older state.
    func incarnationBegan(
        _ incarnation: Incarnation, isFirst: Bool, _ snapshot: LeaseSnapshot, until: Timestamp, clock: RedisClock,
        at now: Instant
    ) {
        let lastBeat = redis.incarnationBegan(
            incarnation, isFirst: isFirst, snapshot, until: until, clock: clock, at: now)
        repairs.incarnationBegan()
        for session in sessions.all {
            session.isStateDeferred = false
            session.recorder?.asserted(lastBeat: lastBeat)
            advance(session, at: now)
        }
        retryStops(at: now)
        readAllAgain(authoritatively: false)
        if !isFirst {
            remindOfSettling()
            if let start = redis.weakerStates.start { timers.remind(.weakerStates, at: start) }
        }
    }

    /// Handles a heartbeat that renewed the lease and read all others.
    ///
    /// - Parameter afterGap: whether more than two heartbeats had passed. Other workers may have lost their leases, so
    ///   this is handled as if Redis had been away.
    func leaseRenewed(
        of incarnation: Incarnation, _ snapshot: LeaseSnapshot, until: Timestamp, clock: RedisClock, afterGap: Bool,
        at now: Instant
    ) {
        let renewal = redis.leaseRenewed(
            of: incarnation, snapshot, until: until, clock: clock, afterGap: afterGap, at: now)
        if renewal.endsOutage { remindOfSettling() }
        if renewal.hasLostWorker { reads.insert(watches.all) }
        reads.heartbeatCame()
        let blocked = repairs.takeBlocked()
        // No session was written while heartbeats failed, even if none of its steps failed.
        for session in renewal.resumesWrites ? sessions.all : blocked {
            session.recorder?.retry()
            // The device may be back at another worker, which can write it only now. A removal therefore waits for the
            // next heartbeat.
            if renewal.resumesWrites, session.phase == .ending {
                repairs.retryLater(session)
            } else {
                advance(session, at: now)
            }
        }
        retryStops(at: now)
        if repairs.takeNeedsSweep() { host.assertAnew(.sessionsDropped) }
        retryRoomReads()
        continueAudit(at: now)
    }

    /// Handles that Redis is unreachable or the lease may be lost: nothing can be written until the next incarnation.
    func redisLost(at now: Instant) {
        redis.lost()
        for session in sessions.all { listen(to: session, at: now) }
    }

    /// Handles that two heartbeats in a row have failed. Nothing is written until one succeeds. Reads go on under the rules
    /// of an outage: no worker may be able to renew its lease, so an expired lease does not mean that a worker is dead.
    func heartbeatsFail(at now: Instant) {
        let (isNew, wasAway) = redis.heartbeatsFail(at: now)
        if wasAway { readAllAgain(authoritatively: false) }
        if isNew {
            remindOfSettling()
            for session in sessions.all { listenUnlessRevoked(session, at: now) }
        }
        reads.heartbeatCame()
        retryRoomReads()
    }

    /// Handles the loss of the connection that receives changes. What is shown stays as it is until each channel is
    /// confirmed and read again.
    public func subscriptionsLost() {
        for room in rooms.all { room.topics.forEach(room.channelLost) }
        watches.all.forEach { $0.channelLost() }
    }

    /// Handles the loss of one channel, because one of several servers was lost or the channel moves to another server.
    /// Works like ``subscriptionsLost()`` for a single channel.
    public func subscriptionLost(_ topic: Topic) {
        switch topic {
        case .presence(let user):
            watches[user]?.channelLost()
        case .typing(let conversation), .members(let conversation):
            rooms[conversation]?.channelLost(topic)
        case .worker:
            break
        }
    }

    /// Handles the confirmation of a channel: a read that starts now misses nothing.
    public func subscribed(_ topic: Topic, at now: Instant) {
        switch topic {
        case .presence(let user):
            guard let watch = watches[user] else { break }
            watch.channelConfirmed()
            reads.insert(watch)
        case .typing(let conversation), .members(let conversation):
            if let room = rooms[conversation], room.channelConfirmed(topic) { readAgain(room) }
        case .worker:
            break
        }
    }

    /// Reads everything authoritatively once the last outage has settled.
    func settlingDue(at now: Instant) {
        switch redis.settlingDue(at: now) {
        case .settled: readAllAgain(authoritatively: true)
        case .waiting(let moment): timers.remind(.settling, at: moment)
        case .nothing: break
        }
    }

    private func remindOfSettling() {
        if let outage = redis.outage { timers.remind(.settling, at: outage.settles) }
    }

    /// Whether a session's decision is written later, because Redis may have lost stronger states of the user's other
    /// devices: under a new incarnation, active devices are written first, then weaker states, and then removals.
    func isDeferred(_ session: Session, at now: Instant) -> Bool {
        let schedule = redis.weakerStates
        return !session.isActiveAndConnected && schedule.defers(session.recorder?.state, at: now)
    }

    /// Writes the weaker states under the latest incarnation, and the removals slightly later.
    func writeWeakerStates(at now: Instant) {
        let schedule = redis.weakerStates
        guard let start = schedule.start, let removals = schedule.removals else { return }
        guard now >= start else { return timers.remind(.weakerStates, at: start) }
        for state in [.active, .idle, .background] as [DeviceState] { advanceAll(in: state, at: now) }
        guard now >= removals else { return timers.remind(.weakerStates, at: removals) }
        advanceAll(in: nil, at: now)
        redis.weakerStatesWritten()
    }

    private func advanceAll(in state: DeviceState?, at now: Instant) {
        for session in sessions.all where session.recorder?.state == state { advance(session, at: now) }
    }

    private func readAllAgain(authoritatively: Bool) {
        let all = watches.all
        all.forEach { $0.nextRead(isAuthoritative: authoritatively) }
        reads.insert(all)
        rooms.all.forEach(readAgain)
    }

    /// Requests the reads of users that are due, except those whose channel is not confirmed; its confirmation
    /// asks again.
    func askForReads(at now: Instant) {
        guard redis.answersReads, reads.hasWatches else { return }
        var ordinary: [UserID] = []
        var authoritative: [UserID] = []
        for watch in reads.takeWatches() {
            guard let isAuthoritative = watch.readBegan() else { continue }
            if isAuthoritative { authoritative.append(watch.user) } else { ordinary.append(watch.user) }
        }
        let known = redis.known(at: now)
        askForReads(of: ordinary, isAuthoritative: false, known: known)
        askForReads(of: authoritative, isAuthoritative: true, known: known)
    }

    private func askForReads(of users: [UserID], isAuthoritative: Bool, known: KnownWorkers) {
        for start in stride(from: 0, to: users.count, by: settings.bounds.readBatch) {
            let batch = Array(users[start..<min(start + settings.bounds.readBatch, users.count)])
            store.presence(of: batch, known: known) { [self] reply in
                after { shard, _ in
                    switch reply {
                    case .success(let snapshot): shard.presenceRead(snapshot, isAuthoritative: isAuthoritative)
                    case .failure: shard.presenceReadFailed(batch, isAuthoritative: isAuthoritative)
                    }
                }
            }
        }
    }

    private func retryStops(at now: Instant) {
        guard redis.takesWrites else { return }
        for stop in repairs.stops.takeFailed(at: redis.time(at: now)) {
            send(stop: stop)
        }
    }
}
