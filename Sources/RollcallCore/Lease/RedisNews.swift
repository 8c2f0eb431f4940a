// Changes of Redis and of the worker's lease, as a shard handles them.

public import RollcallProtocol

extension Shard {
    /// Handles a change of the worker's lease.
    public func told(_ news: LeaseNews, at now: Instant) {
        switch news {
        case .began(let redis, let snapshot, let lastBeat): incarnationBegan(redis, snapshot, since: lastBeat, at: now)
        case .renewed(let redis, _): leaseRenewed(redis, at: now)
        case .heartbeatsFail(let redis): heartbeatsFail(redis, at: now)
        case .lost(let redis): redisLost(redis, at: now)
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
    public func receive(_ payload: UnsafeRawBufferPointer, on topic: Topic, at now: Instant) {
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
    private func incarnationBegan(
        _ new: RedisState, _ snapshot: LeaseSnapshot, since lastBeat: Timestamp?, at now: Instant
    ) {
        let former = Incarnation(name: redis.workerName)
        redis = new
        if lastBeat != nil { deferWeakerStates(after: former, snapshot, at: now) }
        repairs.incarnationBegan()
        for session in sessions.all {
            session.stateWaitsNoLonger()
            session.recorder?.asserted(lastBeat: lastBeat)
            advance(session, at: now)
        }
        retryStops(at: now)
        readAllAgain(authoritatively: false)
    }

    /// Handles a heartbeat that renewed the lease and read all others. Everything is read authoritatively once the last
    /// outage has settled.
    private func leaseRenewed(_ new: RedisState, at now: Instant) {
        let former = redis
        let resumesWrites = !former.takesWrites
        redis = new
        if former.judgement.isSettling, !new.judgement.isSettling {
            readAllAgain(authoritatively: true)
        } else if new.judgement.hasLostWorker(since: former.judgement) {
            reads.insert(watches.all)
        }
        reads.heartbeatCame()
        let blocked = repairs.takeBlocked()
        // No session was written while heartbeats failed, even if none of its steps failed.
        for session in resumesWrites ? sessions.all : blocked {
            session.recorder?.retry()
            // The device may be back at another worker, which can write it only now. A removal therefore waits for the
            // next heartbeat.
            if resumesWrites, session.phase == .ending {
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
    private func redisLost(_ new: RedisState, at now: Instant) {
        redis = new
        for session in sessions.all { listen(to: session, at: now) }
    }

    /// Handles that two heartbeats in a row have failed. Nothing is written until one succeeds. Reads go on under the rules
    /// of an outage.
    private func heartbeatsFail(_ new: RedisState, at now: Instant) {
        let former = redis
        redis = new
        if !former.answersReads { readAllAgain(authoritatively: false) }
        if former.takesWrites || !former.answersReads {
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
