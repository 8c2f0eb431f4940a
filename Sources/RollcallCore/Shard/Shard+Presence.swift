// Incoming presence: the users that sessions watch, and what they are shown.

public import RollcallModel

extension Shard {
    /// Handles a user's published presence.
    package mutating func presenceChanged(_ change: PresenceChange, at now: Instant) {
        let presence = change.presence
        guard let key = watches.key(of: presence.user) else { return }
        // Published presence counts the devices of dead incarnations until they are swept, so any status but offline
        // may come from those devices alone.
        let mayCountThem =
            watches.read(key) { $0.masked.isEmpty } == false || redis.leavesUnswept && redis.outage == nil
        if mayCountThem, presence.status != .offline { return presenceUnreadable(of: presence.user) }
        let time = redis.time(at: now)
        watches.change(key) { $0.changed(change, at: time) }
        fanOut.presence.insert(key)
    }

    /// Handles a published change whose result is unknown, such as one from a later version: reads the user's record
    /// instead.
    package mutating func presenceUnreadable(of user: UserID) {
        guard let key = watches.key(of: user) else { return }
        watches.change(key) { $0.heard() }
        reads.insert(key)
    }

    /// Handles the records of watched users that were read.
    package mutating func presenceRead(_ snapshot: PresenceSnapshot, isAuthoritative: Bool) -> [ShardAction] {
        sweepDead(in: snapshot)
        presenceReadFailed(snapshot.unread, isAuthoritative: isAuthoritative)
        for record in snapshot.records {
            guard let key = watches.key(of: record.user) else { continue }
            defer { readEnded(of: key) }
            guard watches.change(key, { $0.mayTake(isAuthoritative: isAuthoritative) }) == true else { continue }
            let counts = isRemoved(record, key) || isAuthoritative && isConclusive(record, key)
            let reading = reading(of: record, snapshot.standings, of: key, isAuthoritative: counts)
            if watches.change(key, { $0.read(reading) }) == true { fanOut.presence.insert(key) }
            fanOut.becameKnown(to: watches.change(key) { $0.snapshotKnown() } ?? [])
        }
        return take()
    }

    /// Handles a failed read of watched users. They are read again with the next heartbeat, or when Redis is back.
    package mutating func presenceReadFailed(_ users: [UserID], isAuthoritative: Bool) {
        for user in users {
            guard let key = watches.key(of: user) else { continue }
            readEnded(of: key)
            reads.retryLater(key)
            if isAuthoritative { watches.change(key) { $0.nextReadIsAuthoritative = true } }
        }
    }

    private mutating func readEnded(of key: WatchKey) {
        if watches.change(key, { $0.readEnded() }) == true { reads.insert(key) }
    }

    /// Handles the result of a `get`; `nil` if Redis could not be asked. If any user could not be read, the whole `get`
    /// is answered with an error.
    package mutating func gotPresence(
        _ snapshot: PresenceSnapshot?, of users: [UserID], for key: SessionKey, id: MessageID?, at now: Instant
    ) -> [ShardAction] {
        // The session may have ended before the reply.
        sessions.changeIfPresent(key) { $0.getting -= Session.weight(ofGetting: users) }
        if let snapshot, snapshot.unread.isEmpty, sessions[key]?.isConnected == true {
            sweepDead(in: snapshot)
            let answer = readings(of: snapshot).map { got($0, by: key, at: now) }
            actions.append(.sendSnapshot(.presence(answer, id: id), to: key))
        } else {
            answerUnavailable(key, id: id)
        }
        return take()
    }

    /// Returns the presence to show for users that were read, watched or not.
    public func presences(in snapshot: PresenceSnapshot) -> [Presence] {
        readings(of: snapshot).map(\.presence)
    }

    private func readings(of snapshot: PresenceSnapshot) -> [Watch.Reading] {
        snapshot.records.map {
            reading(of: $0, snapshot.standings, of: watches.key(of: $0.user), isAuthoritative: false)
        }
    }

    /// Sweeps devices of dead incarnations that a read found, which sweepers may have missed.
    public mutating func metDead(in snapshot: PresenceSnapshot) -> [ShardAction] {
        sweepDead(in: snapshot)
        return take()
    }

    mutating func watch(_ users: [UserID], id: MessageID?, on key: SessionKey, at now: Instant) {
        var named: Set<UserID> = []
        let added = users.filter {
            !isWatching($0, key) && named.insert($0).inserted
        }
        guard mayWatch(added.count, id: id, on: key) else { return }
        let new = added.map { addWatcher(key, of: $0) }
        sessions.change(key) { $0.watched.insert(new) }
        fanOut.enqueue(new.map { .user($0) }, for: key)
        // Users who were already watched are shown again.
        if added.count < users.count {
            fanOut.enqueue(users.compactMap { watches.key(of: $0).map { .user($0) } }, for: key)
        }
        ackWhenFlushed(id, to: key)
    }

    private func isWatching(_ user: UserID, _ key: SessionKey) -> Bool {
        guard let watch = watches.key(of: user) else { return false }
        return sessions.read(key) { $0.watched.contains(watch) } ?? false
    }

    /// Whether a session may watch this many more users. If not, answers with an error.
    private mutating func mayWatch(_ added: Int, id: MessageID?, on key: SessionKey) -> Bool {
        guard (sessions[key]?.watched.keys.count ?? 0) + added <= settings.limits.watchedUsers else {
            actions.append(.limitHit(.watchedUsers, key))
            answer(key, .limit, id: id, "a session watches at most \(settings.limits.watchedUsers) users")
            return false
        }
        guard mayAckLater(to: key) else {
            answerUnavailable(key, id: id)
            return false
        }
        return true
    }

    mutating func unwatch(_ users: [UserID], id: MessageID?, on key: SessionKey) {
        for user in users {
            guard let watch = watches.key(of: user), sessions.change(key, { $0.watched.remove(watch) }) == true
            else { continue }
            removeWatcher(key, of: user)
        }
        sendDueAcks(to: key)
        acknowledge(id, to: key)
    }

    mutating func get(_ users: [UserID], id: MessageID?, on key: SessionKey, at now: Instant) {
        let limit = settings.limits.watchedUsers
        guard let getting = sessions[key]?.getting, getting + Session.weight(ofGetting: users) <= limit else {
            actions.append(.limitHit(.watchedUsers, key))
            return answer(key, .limit, id: id, "a session gets at most \(limit) users at once")
        }
        sessions.change(key) { $0.getting += Session.weight(ofGetting: users) }
        guard !fanOut.postpone(PendingUpdates.Get(users: users, id: id), of: key) else { return }
        ask(for: users, id: id, on: key, at: now)
    }

    /// Asks Redis for the users of a `get`.
    mutating func ask(for users: [UserID], id: MessageID?, on key: SessionKey, at now: Instant) {
        guard !redis.answersReads else {
            let get = StoreRequest.GetPresence(users: users, known: redis.known(at: now), key: key, id: id)
            return actions.append(.store(.getPresence(get)))
        }
        sessions.change(key) { $0.getting -= Session.weight(ofGetting: users) }
        answerUnavailable(key, id: id)
    }

    /// Adds a reason for a session to watch a user. The caller then sends the current state.
    mutating func addWatcher(_ key: SessionKey, of user: UserID) -> WatchKey {
        let watchKey = watches.key(of: user) ?? openWatch(user)
        watches.change(watchKey) { $0.gained(key) }
        return watchKey
    }

    /// Removes one of a session's reasons to watch a user. The subscription ends with the last watcher.
    mutating func removeWatcher(_ key: SessionKey, of user: UserID) {
        guard let watchKey = watches.key(of: user), watches.change(watchKey, { $0.lost(key) }) == true else { return }
        fanOut.cancel(.user(watchKey), for: key)
        guard watches.read(watchKey, { $0.watchers.isEmpty }) == true else { return }
        watches.remove(watchKey)
        reads.forget(watchKey)
        timers.forget(.watch(watchKey))
        actions.append(.unsubscribe(.presence(user)))
    }

    /// Sends changes of users: the first four changes after a quiet time at once, later ones at most once per
    /// ``ShardSettings/presenceCoalesce``, with the state at that time. If a user then looks the same as before,
    /// nothing is sent.
    mutating func sendPresence(at now: Instant) {
        for key in fanOut.presence.take(settings.bounds.tellBatch) { sendChange(of: key, at: now) }
    }

    private mutating func sendChange(of key: WatchKey, at now: Instant) {
        let interval = settings.presenceCoalesce
        if let next = watches.read(key, { $0.newsPace.next(every: interval) }), now < next {
            return timers.remind(.watch(key), at: next)
        }
        let seen = watches.read(key) { $0.shown?.look } ?? nil
        // The last watcher may have left since the user changed.
        guard let news = watches.changeIfPresent(key, { $0.news(at: now, every: interval) }) ?? nil,
            let watchers = watches.read(key, { $0.watchers.keys })
        else { return }
        send(.presence([news]), of: .user(key), seen: seen, to: watchers.sorted { $0.index < $1.index })
    }

    /// Returns the presence to show after a record was read.
    ///
    /// After an outage, until all workers have had time to write their sessions again, only newer records change what
    /// observers saw.
    func reading(
        of record: PresenceRecord, _ standings: [Incarnation: WorkerStanding], of key: WatchKey?, isAuthoritative: Bool
    ) -> Watch.Reading {
        let dead = standings.isEmpty ? [:] : masked(in: record, standings, isAuthoritative: isAuthoritative)
        let read = Watch.Known(
            presence: record.presence(past: dead), version: record.version, isStored: record.isStored)
        let known = isAuthoritative ? nil : key.flatMap(known)
        let newest = known.map { newer(read, $0) } ?? read
        return Watch.Reading(known: newest, masked: Set(dead.keys))
    }

    /// Returns the presence that a further read is compared with. After an outage, a missing record means nothing: it
    /// may have been read from a replaced primary while the user connected to the new one.
    private func known(of key: WatchKey) -> Watch.Known? {
        let known = watches.read(key) { $0.known } ?? nil
        return redis.outage != nil && known?.isStored != true ? nil : known
    }

    private func newer(_ read: Watch.Known, _ known: Watch.Known) -> Watch.Known {
        // A missing record does not count as newer, although it reads as one: Redis may have lost all data.
        guard read.isStored || !known.isStored else { return known }
        guard redis.outage != nil else { return read.version >= known.version ? read : known }
        return read.version > known.version ? read : known
    }

    /// Returns the incarnations, all dead, whose devices do not count in a record.
    ///
    /// After an outage, until all workers have had time to write their sessions again, devices of incarnations that
    /// died during the outage still count. Devices that did not count before the outage stay ignored. If that is not
    /// known, incarnations whose lease expired before the outage are ignored.
    private func masked(
        in record: PresenceRecord, _ standings: [Incarnation: WorkerStanding], isAuthoritative: Bool
    ) -> [Incarnation: WorkerStanding] {
        let named = record.incarnations
        let dead = standings.filter { $0.value.isDead && named.contains($0.key) }
        guard let outage = redis.outage, !isAuthoritative else { return dead }
        guard let key = watches.key(of: record.user), let watch = watches[key], known(of: key) != nil else {
            return dead.filter { outage.hadPassed($0.value) }
        }
        return dead.filter { watch.masked.contains($0.key) }
    }

    /// Whether a known record was removed or has expired, rather than lost with all data. If Redis had lost all data,
    /// it would not know this worker's lease either. A record that is still missing after the next heartbeat is
    /// therefore gone.
    private mutating func isRemoved(_ record: PresenceRecord, _ key: WatchKey) -> Bool {
        guard redis.outage == nil, !record.isStored, watches[key]?.known?.isStored == true else {
            watches.change(key) { $0.missingSince = nil }
            return false
        }
        let now = Int32(clamping: redis.heartbeatCount)
        let since = watches[key]?.missingSince ?? now
        watches.change(key) { $0.missingSince = since }
        let isRemoved = since < now && watches[key]?.heardMeanwhile == false
        if !isRemoved { reads.retryLater(key) }
        return isRemoved
    }

    /// Whether an authoritative read counts. It does not after another outage, or if a change arrived during the read:
    /// such a read ignores versions, and the change may be newer. In the second case, the user is read again.
    private mutating func isConclusive(_ record: PresenceRecord, _ key: WatchKey) -> Bool {
        guard redis.outage == nil, watches[key]?.missingSince == nil else { return false }
        guard watches[key]?.heardMeanwhile == true else { return true }
        watches.change(key) { $0.nextReadIsAuthoritative = true }
        reads.insert(key)
        return false
    }

    /// Returns the presence to answer a `get` with. If the session also watches the user, this is what its watch shows.
    /// A later difference is then sent as a change, and no older state follows the answer.
    private mutating func got(_ reading: Watch.Reading, by session: SessionKey, at now: Instant) -> Presence {
        guard let key = watches.key(of: reading.presence.user) else { return reading.presence }
        watches.change(key) { $0.got(reading) }
        sendChange(of: key, at: now)
        guard watches[key]?.watchers.contains(session) == true, let shown = watches[key]?.shown else {
            return reading.presence
        }
        fanOut.enqueueAgain(.user(key), for: session)
        return shown
    }

    private mutating func sweepDead(in snapshot: PresenceSnapshot) {
        guard !snapshot.standings.isEmpty else { return }
        let dead = snapshot.deadDevices
        if !dead.isEmpty { actions.append(.sweep(dead)) }
    }

    private mutating func openWatch(_ user: UserID) -> WatchKey {
        let key = watches.insert(Watch(user: user))
        actions.append(.subscribe(.presence(user)))
        return key
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
