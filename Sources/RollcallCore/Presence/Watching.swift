// Incoming presence: the users that sessions watch, and what they are shown.

public import RollcallProtocol

extension Shard {
    /// Handles a user's published presence.
    package func presenceChanged(_ change: PresenceChange, at now: Instant) {
        guard let watch = watches[change.presence.user] else { return }
        if watch.changed(change, redis, at: now) { fanOut.presence.insert(watch) } else { reads.insert(watch) }
    }

    /// Handles a published change whose result is unknown, such as one from a later version: reads the user's record
    /// instead.
    package func presenceUnreadable(of user: UserID) {
        guard let watch = watches[user] else { return }
        watch.changeArrived()
        reads.insert(watch)
    }

    /// Handles the records of watched users that were read.
    func presenceRead(_ snapshot: PresenceSnapshot, isAuthoritative: Bool) {
        sweepDead(in: snapshot)
        presenceReadFailed(snapshot.unread, isAuthoritative: isAuthoritative)
        for record in snapshot.records {
            guard let watch = watches[record.user] else { continue }
            let (isNews, next) = watch.read(
                record, snapshot.standings, isAuthoritative: isAuthoritative, redis.judgement)
            if isNews { fanOut.presence.insert(watch) }
            fanOut.becameKnown(to: watch.snapshotKnown())
            reads.insert(watch, next)
        }
    }

    /// Handles a failed read of watched users. They are read again with the next heartbeat, or when Redis is back.
    func presenceReadFailed(_ users: [UserID], isAuthoritative: Bool) {
        for user in users {
            guard let watch = watches[user] else { continue }
            reads.insert(watch, watch.readFailed(isAuthoritative: isAuthoritative))
        }
    }

    /// Handles the result of a `get`; `nil` if Redis could not be asked. If any user could not be read, the whole `get`
    /// is answered with an error.
    func gotPresence(
        _ snapshot: PresenceSnapshot?, of users: [UserID], for session: Session, id: MessageID?, at now: Instant
    ) {
        // The session may have ended before the reply.
        session.got(users)
        if let snapshot, snapshot.unread.isEmpty, session.isConnected {
            sweepDead(in: snapshot)
            let readings = snapshot.records.map { visible($0, snapshot.standings) }
            let presences = readings.map { got($0, by: session, at: now) }
            deliver(.presence(presences, id: id), to: CollectionOfOne(session), counting: false)
        } else {
            answerUnavailable(session, id: id)
        }
    }

    /// Sweeps devices of dead incarnations that a read found, which sweepers may have missed.
    public func metDead(in snapshot: PresenceSnapshot) {
        sweepDead(in: snapshot)
    }

    func watch(_ users: [UserID], id: MessageID?, on session: Session, at now: Instant) {
        var named: Set<UserID> = []
        let added = users.filter {
            !isWatching($0, session) && named.insert($0).inserted
        }
        guard mayWatch(added.count, id: id, on: session) else { return }
        let new = added.map { addWatcher(session, of: $0) }
        session.watches(new)
        fanOut.enqueue(new.map { .user($0) }, for: session)
        // Users who were already watched are shown again.
        if added.count < users.count {
            fanOut.enqueue(users.compactMap { watches[$0].map { .user($0) } }, for: session)
        }
        ackWhenFlushed(id, to: session)
    }

    private func isWatching(_ user: UserID, _ session: Session) -> Bool {
        guard let watch = watches[user] else { return false }
        return session.watched.contains(watch)
    }

    /// Whether a session may watch this many more users. If not, answers with an error.
    private func mayWatch(_ added: Int, id: MessageID?, on session: Session) -> Bool {
        guard session.watched.elements.count + added <= settings.limits.watchedUsers else {
            session.peer?.limitHit(.watchedUsers)
            answer(session, .limit, id: id, "a session watches at most \(settings.limits.watchedUsers) users")
            return false
        }
        guard mayAckLater(to: session) else {
            answerUnavailable(session, id: id)
            return false
        }
        return true
    }

    func unwatch(_ users: [UserID], id: MessageID?, on session: Session) {
        for user in users {
            guard let watch = watches[user], session.unwatched(watch) else { continue }
            removeWatcher(session, of: user)
        }
        sendDueAcks(to: session)
        acknowledge(id, to: session)
    }

    func get(_ users: [UserID], id: MessageID?, on session: Session, at now: Instant) {
        let limit = settings.limits.watchedUsers
        guard session.gets(users, most: limit) else {
            session.peer?.limitHit(.watchedUsers)
            return answer(session, .limit, id: id, "a session gets at most \(limit) users at once")
        }
        guard !fanOut.postpone(PendingUpdates.Get(users: users, id: id), of: session) else { return }
        ask(for: users, id: id, on: session, at: now)
    }

    /// Asks Redis for the users of a `get`.
    func ask(for users: [UserID], id: MessageID?, on session: Session, at now: Instant) {
        guard !redis.answersReads else {
            return store.presence(of: users, known: redis.known(at: now)) { [self] reply in
                after { $0.gotPresence(try? reply.get(), of: users, for: session, id: id, at: $1) }
            }
        }
        session.got(users)
        answerUnavailable(session, id: id)
    }

    /// Adds a reason for a session to watch a user. The caller then sends the current state.
    func addWatcher(_ session: Session, of user: UserID) -> Watch {
        let watch = watches[user] ?? openWatch(user)
        watch.gained(session)
        return watch
    }

    /// Removes one of a session's reasons to watch a user. The subscription ends with the last watcher.
    func removeWatcher(_ session: Session, of user: UserID) {
        guard let watch = watches[user], watch.lost(session) else { return }
        fanOut.cancel(.user(watch), for: session)
        guard watch.watchers.isEmpty else { return }
        watch.ended()
        watches.remove(user)
        reads.forget(watch)
        timers.forget(.watch(watch))
        store.unsubscribe(.presence(user))
    }

    /// Sends changes of users: the first four changes after a quiet time at once, later ones at most once per
    /// ``ShardSettings/presenceCoalesce``, with the state at that time. If a user then looks the same as before,
    /// nothing is sent.
    func sendPresence(at now: Instant) {
        // The last watcher may have left since the user changed.
        for watch in fanOut.presence.take(settings.bounds.tellBatch) where !watch.isOver {
            sendChange(of: watch, at: now)
        }
    }

    private func sendChange(of watch: Watch, at now: Instant) {
        let interval = settings.presenceCoalesce
        let next = watch.mayShow(every: interval)
        guard now >= next else { return timers.remind(.watch(watch), at: next) }
        let seen = watch.shown?.look
        guard let news = watch.news(at: now, every: interval) else { return }
        send(.presence([news]), of: .user(watch), seen: seen, to: watch.watchers.sessions)
    }

    /// Returns the presence to answer a `get` with. If the session also watches the user, this is what its watch shows.
    /// A later difference is then sent as a change, and no older state follows the answer.
    private func got(_ reading: VisiblePresence, by session: Session, at now: Instant) -> Presence {
        guard let watch = watches[reading.presence.user] else { return reading.presence }
        watch.got(reading)
        sendChange(of: watch, at: now)
        guard watch.watchers.contains(session), let shown = watch.shown else { return reading.presence }
        fanOut.enqueueAgain(.user(watch), for: session)
        return shown
    }

    private func sweepDead(in snapshot: PresenceSnapshot) {
        guard !snapshot.standings.isEmpty else { return }
        let dead = snapshot.deadDevices
        if !dead.isEmpty { host.sweep(dead) }
    }

    private func openWatch(_ user: UserID) -> Watch {
        store.subscribe(.presence(user))
        return watches.insert(user) { Watch(user: user, number: $0) }
    }
}

extension PresenceSnapshot {
    /// The devices of dead incarnations that are not marked gone yet.
    fileprivate var deadDevices: [DeadDevice] {
        records.flatMap { record in
            record.devices.sorted { $0.key < $1.key }.compactMap { device, standing in
                guard standing.state != nil, standings[standing.incarnation]?.isDead == true else { return nil }
                let name = SessionName(user: record.user, device: device, session: standing.session)
                return DeadDevice(name: name, incarnation: standing.incarnation)
            }
        }
    }
}
