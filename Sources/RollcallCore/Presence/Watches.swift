// The users that sessions watch: what clients ask, what is published and read of them, and what their watchers are shown.

internal import RollcallProtocol

/// Owns the watched users of a shard, their reads, and their changes that were not sent yet.
final class Watches {
    private let loop: Loop
    private let outbound: Outbound
    private let persons: Persons
    private var watches = Directory<UserID, Watch>()
    /// Users to read at the end of the tick: their channel is confirmed, or its confirmation asks again.
    private var due: Set<Watch> = []
    /// Users whose next read waits for the next heartbeat.
    private var waiting: Set<Watch> = []
    /// Users whose presence has changed.
    private var changes = ChangeQueue<Watch>()

    init(_ loop: Loop, _ outbound: Outbound, _ persons: Persons) {
        (self.loop, self.outbound, self.persons) = (loop, outbound, persons)
        persons.isWatched = { [unowned self] in watches[$0] != nil }
    }

    var count: Int { watches.count }
    /// Users to read.
    var dueReadCount: Int { due.count + waiting.count }
    /// Users with changes that were not sent yet.
    var changeCount: Int { changes.count }

    /// The user as watched here; `nil` if no session watches.
    func watched(_ user: UserID) -> Watch? { watches[user] }

    // MARK: Channels and the lease

    /// Handles the confirmation of a user's channel: a read that starts now misses nothing.
    func confirmed(_ user: UserID) {
        guard let watch = watches[user] else { return }
        watch.channelConfirmed()
        due.insert(watch)
    }

    func channelLost(_ user: UserID) { watches[user]?.channelLost() }

    func channelsLost() { watches.all.forEach { $0.channelLost() } }

    func readAgain(authoritatively: Bool) {
        let all = watches.all
        all.forEach { $0.nextRead(isAuthoritative: authoritatively) }
        due.formUnion(all)
    }

    /// Another worker counts as dead since the last heartbeat.
    func workerLost() { due.formUnion(watches.all) }

    func heartbeatCame() {
        due.formUnion(waiting)
        waiting = []
    }

    // MARK: What is published and read

    /// Handles a user's published presence.
    func published(_ change: PresenceChange, at now: Instant) {
        guard let watch = watches[change.presence.user] else { return }
        switch change.person {
        case nil: break
        case 0: persons.erased(watch.user, at: now)
        case let revision?: persons.named(revision, of: watch.user, at: now)
        }
        if watch.changed(change, loop.redis, at: now) { changes.insert(watch) } else { due.insert(watch) }
    }

    /// Handles a published change whose result is unknown, such as one from a later version: reads the user's record
    /// instead.
    func unreadable(_ user: UserID) {
        guard let watch = watches[user] else { return }
        watch.changeArrived()
        due.insert(watch)
    }

    /// What a user has decided that others see is known, or has changed, or what they have decided themselves of others.
    func personChanged(_ user: UserID, _ sessions: [Session], at now: Instant) {
        for session in sessions where session.phase == .open { rightChanged(of: session, at: now) }
        guard let watch = watches[user] else { return }
        guard !persons.isUnknown(user) else {
            watch.changeArrived()
            due.insert(watch)
            return
        }
        watch.wordsChanged()
        judgeAll(of: watch)
        outbound.becameKnown(to: watch.snapshotKnown())
        changes.insert(watch)
    }

    /// Decides anew how much each watcher sees of a user.
    private func judgeAll(of watch: Watch) {
        for watcher in watch.watchers.sessions { changeView(of: watch, for: watcher) { watch.judge(watcher) } }
    }

    /// Returns what to show of a user who was read, watched or not.
    func visible(_ record: PresenceRecord, _ standings: [Incarnation: WorkerStanding]) -> VisiblePresence {
        VisiblePresence(record, standings, loop.redis.judgement, unless: watches[record.user]?.known)
    }

    /// Returns the presence to show for users that were read, watched or not.
    ///
    /// - Parameter asker: for whom; `nil` for a server, which sees everything.
    /// - Returns: for each, also why.
    func presences(in snapshot: PresenceSnapshot, for asker: Asker?) -> [(shown: ShownPresence, sight: Sight)] {
        snapshot.records.map { record in
            let (found, viewer) = (snapshot.persons[record.user], asker?.viewer(of: record.user, loop.settings))
            var reading = visible(record, snapshot.standings)
            reading.say(persons.words(of: record, found))
            let lastSeen = reading.presence.lastSeen
            let sight = viewer.map { persons.sight(of: record, found, lastSeen: lastSeen, for: $0) } ?? .oneself
            return (reading.presence.shown(in: sight.view), sight)
        }
    }

    /// Handles the records of watched users that were read.
    private func presenceRead(
        _ snapshot: PresenceSnapshot, for asked: [Watch], isAuthoritative: Bool, at now: Instant
    ) {
        sweepDead(in: snapshot)
        let watches = Dictionary(uniqueKeysWithValues: asked.lazy.filter { !$0.isOver }.map { ($0.user, $0) })
        presenceReadFailed(snapshot.unread.compactMap { watches[$0] }, isAuthoritative: isAuthoritative)
        for record in snapshot.records {
            persons.read(snapshot.persons[record.user], named: record.person, of: record.user, at: now)
            guard let watch = watches[record.user] else { continue }
            let (isNews, next) = watch.read(
                record, snapshot.standings, isAuthoritative: isAuthoritative, loop.redis.judgement)
            if isNews { changes.insert(watch) }
            outbound.becameKnown(to: watch.snapshotKnown())
            // Redis did not have what the record names.
            if next == .none, case .missing = persons.decisions(of: watch.user) {
                readNext(watch, .withHeartbeat)
            } else {
                readNext(watch, next)
            }
        }
    }

    /// Handles a failed read of watched users. They are read again with the next heartbeat, or when Redis is back.
    private func presenceReadFailed(_ asked: [Watch], isAuthoritative: Bool) {
        for watch in asked where !watch.isOver {
            readNext(watch, watch.readFailed(isAuthoritative: isAuthoritative))
        }
    }

    private func readNext(_ watch: Watch, _ next: Watch.NextRead) {
        switch next {
        case .none: break
        case .now: due.insert(watch)
        case .withHeartbeat: waiting.insert(watch)
        }
    }

    /// Requests the reads of users that are due, except those whose channel is not confirmed; its confirmation
    /// asks again.
    func requestReads(at now: Instant) {
        guard loop.redis.answersReads, !due.isEmpty else { return }
        var ordinary: [Watch] = []
        var authoritative: [Watch] = []
        let watches = due.sorted { $0.number < $1.number }
        due = []
        for watch in watches {
            guard let isAuthoritative = watch.readBegan() else { continue }
            if isAuthoritative { authoritative.append(watch) } else { ordinary.append(watch) }
        }
        let known = loop.redis.known(at: now)
        requestReads(of: ordinary, isAuthoritative: false, known: known)
        requestReads(of: authoritative, isAuthoritative: true, known: known)
    }

    private func requestReads(of watches: [Watch], isAuthoritative: Bool, known: KnownWorkers) {
        for start in stride(from: 0, to: watches.count, by: loop.settings.bounds.readBatch) {
            let batch = Array(watches[start..<min(start + loop.settings.bounds.readBatch, watches.count)])
            loop.store.presence(of: batch.map(\.user), known: known) { [self] reply in
                loop.after { now in
                    switch reply {
                    case .success(let snapshot):
                        presenceRead(snapshot, for: batch, isAuthoritative: isAuthoritative, at: now)
                    case .failure: presenceReadFailed(batch, isAuthoritative: isAuthoritative)
                    }
                }
            }
        }
    }

    // MARK: What clients ask

    func watch(_ users: [UserID], id: MessageID?, on session: Session, at now: Instant) {
        var named: Set<UserID> = []
        let added = users.filter {
            !isWatching($0, session) && named.insert($0).inserted
        }
        guard mayWatch(added.count, id: id, on: session) else { return }
        let new = added.map { add(session, of: $0) }
        session.watches(new)
        outbound.enqueue(new.map { .user($0) }, for: session)
        // Users who were already watched are shown again.
        if added.count < users.count {
            outbound.enqueue(users.compactMap { watches[$0].map { .user($0) } }, for: session)
        }
        outbound.ackWhenFlushed(id, to: session)
    }

    private func isWatching(_ user: UserID, _ session: Session) -> Bool {
        guard let watch = watches[user] else { return false }
        return session.watched.contains(watch)
    }

    /// Whether a session may watch this many more users. If not, answers with an error.
    private func mayWatch(_ added: Int, id: MessageID?, on session: Session) -> Bool {
        guard session.watched.elements.count + added <= loop.settings.limits.watchedUsers else {
            session.peer?.limitHit(.watchedUsers)
            outbound.answer(
                session, .limit, id: id, "a session watches at most \(loop.settings.limits.watchedUsers) users")
            return false
        }
        guard outbound.mayAckLater(to: session) else {
            outbound.answerUnavailable(session, id: id)
            return false
        }
        return true
    }

    func unwatch(_ users: [UserID], id: MessageID?, on session: Session) {
        for user in users {
            guard let watch = watches[user], session.unwatched(watch) else { continue }
            remove(session, of: user)
        }
        outbound.sendDueAcks(to: session)
        outbound.acknowledge(id, to: session)
    }

    func get(_ users: [UserID], id: MessageID?, on session: Session, at now: Instant) {
        let limit = loop.settings.limits.watchedUsers
        guard session.gets(users, most: limit) else {
            session.peer?.limitHit(.watchedUsers)
            return outbound.answer(session, .limit, id: id, "a session gets at most \(limit) users at once")
        }
        guard !outbound.postpone(PendingUpdates.Get(users: users, id: id), of: session) else { return }
        ask(for: users, id: id, on: session, at: now)
    }

    /// Asks Redis for the users of a `get`: if a conversation that may share them is still being joined, later.
    ///
    /// - Parameter isLate: whether it has waited for long enough.
    func ask(for users: [UserID], id: MessageID?, on session: Session, isLate: Bool = false, at now: Instant) {
        guard isLate || !session.awaitsShares else {
            outbound.keepUntilJoined(PendingUpdates.Get(users: users, id: id), of: session)
            return loop.remind(.gets(session), at: now + ShardSettings.longestWaitForJoins)
        }
        guard !loop.redis.answersReads else {
            return loop.store.presence(of: users, known: loop.redis.known(at: now)) { [self] reply in
                loop.after { gotPresence(try? reply.get(), of: users, for: session, id: id, at: $0) }
            }
        }
        session.got(users)
        outbound.answerUnavailable(session, id: id)
    }

    /// Asks for the users of the `get`s of a session that have waited for its joins.
    func askLate(on session: Session, at now: Instant) {
        if loop.settings.asksAccess, session.awaitsShares {
            session.isTired = true
            outbound.becameKnown(to: [session])
        }
        for get in outbound.takeGets(of: session) {
            ask(for: get.users, id: get.id, on: session, isLate: true, at: now)
        }
    }

    /// A conversation was joined, or not: what waited for it may be shown.
    func joinEnded(of session: Session, at now: Instant) {
        guard session.watchRight != .all, session.pending != nil, !session.awaitsShares else { return }
        outbound.becameKnown(to: [session])
        askLate(on: session, at: now)
    }

    /// Adds a reason for a session to watch a user. The caller then sends the current state.
    ///
    /// - Parameter isShared: whether the reason is a conversation that shares the user with it.
    func add(_ session: Session, of user: UserID, isShared: Bool = false) -> Watch {
        let watch = watches[user] ?? openWatch(user)
        if watch.gained(session, isShared: isShared) { loop.store.subscribe(.presence(user)) }
        return watch
    }

    /// A conversation shares a user with a session from now on, or no longer.
    func shares(_ isShared: Bool, _ user: UserID, with session: Session) {
        guard let watch = watches[user] else { return }
        changeView(of: watch, for: session) { watch.shares(isShared, with: session) }
    }

    /// A session may ask about others than before.
    func rightChanged(of session: Session, at now: Instant) {
        let members = session.joined.filter { $0.members.followers.contains(session) }.flatMap(\.members.shownUsers)
        for watch in session.watched.elements + members.compactMap({ watches[$0] }) {
            changeView(of: watch, for: session) { watch.judge(session) }
        }
        if session.awaitsShares { loop.remind(.gets(session), at: now + ShardSettings.longestWaitForJoins) }
    }

    /// Does what may change how much a session sees of a user. It is told if the user looks otherwise then.
    private func changeView(of watch: Watch, for session: Session, _ change: () -> Void) {
        // Who was shown nothing yet will be shown what it may see then.
        guard watch.isKnown(to: session), let seen = watch.shown(to: session)?.look else { return change() }
        change()
        guard watch.watchers.contains(session), watch.shown(to: session)?.look != seen else { return }
        outbound.looksOtherwise(watch, than: seen, to: session)
    }

    /// Removes one of a session's reasons to watch a user. The subscription ends with the last watcher.
    func remove(_ session: Session, of user: UserID, isShared: Bool = false) {
        guard let watch = watches[user] else { return }
        var isLast = false
        changeView(of: watch, for: session) { isLast = watch.lost(session, isShared: isShared) }
        guard isLast else { return }
        outbound.cancel(.user(watch), for: session)
        guard watch.watchers.isEmpty else { return }
        watch.ended()
        watches.remove(user)
        due.remove(watch)
        waiting.remove(watch)
        persons.forget(user)
        loop.forget(.watch(watch))
        loop.store.unsubscribe(.presence(user))
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
            let presences = snapshot.records.map { record in
                let found = snapshot.persons[record.user]
                persons.read(found, named: record.person, of: record.user, at: now)
                var reading = visible(record, snapshot.standings)
                reading.say(persons.words(of: record, found))
                return got(reading, of: record, found, by: session, at: now)
            }
            outbound.deliver(.shown(presences, id: id), to: CollectionOfOne(session), counting: false)
        } else {
            outbound.answerUnavailable(session, id: id)
        }
    }

    // MARK: What watchers are shown

    /// A change of the user may be shown now.
    func queue(_ watch: Watch) { changes.insert(watch) }

    /// Sends changes of users: the first four changes after a quiet time at once, later ones at most once per
    /// ``ShardSettings/presenceCoalesce``, with the state at that time. If a user then looks the same as before,
    /// nothing is sent.
    func sendChanges(at now: Instant) {
        // The last watcher may have left since the user changed.
        for watch in changes.take(loop.settings.bounds.tellBatch) where !watch.isOver {
            sendChange(of: watch, at: now)
        }
    }

    private func sendChange(of watch: Watch, at now: Instant) {
        // The read of what the user has decided queues the change again.
        guard !persons.isUnknown(watch.user) else { return }
        let interval = loop.settings.presenceCoalesce
        let next = watch.mayShow(every: interval)
        if now >= next {
            let (seen, watchers) = (watch.shownLook, watch.seeing)
            if let news = watch.news(at: now, every: interval), !watchers.isEmpty {
                outbound.send(.shown(news.shown(in: .whole)), of: .user(watch), seen: seen, to: watchers)
            }
        } else {
            loop.remind(.watch(watch), at: next)
        }
        if watch.hasTimeless { sendTimelessChange(of: watch, every: interval, at: now) }
    }

    /// Sends a change to whoever sees no times, but to those who may now see them: what was hidden is past.
    private func sendTimelessChange(of watch: Watch, every interval: Duration, at now: Instant) {
        judgeAll(of: watch)
        guard let (news, seen, watchers, later) = watch.timelessNews(at: now, every: interval) else { return }
        if let later { return loop.remind(.watch(watch), at: later) }
        outbound.send(.shown(news), of: .user(watch), seen: seen, to: watchers)
    }

    /// Returns the presence to answer a `get` with. If the session also watches the user, this is what its watch shows.
    /// A later difference is then sent as a change, and no older state follows the answer.
    private func got(
        _ reading: VisiblePresence, of record: PresenceRecord, _ found: Person??, by session: Session, at now: Instant
    ) -> ShownPresence {
        let lastSeen = reading.presence.lastSeen
        guard let watch = watches[record.user] else {
            return reading.presence.shown(in: persons.view(of: record, found, lastSeen: lastSeen, for: session))
        }
        watch.got(reading)
        sendChange(of: watch, at: now)
        guard watch.watchers.contains(session), let shown = watch.shown(to: session) else {
            return reading.presence.shown(
                in: persons.view(of: record.user, for: session, shares: false, lastSeen: lastSeen))
        }
        outbound.enqueueAgain(.user(watch), for: session)
        return shown
    }

    /// Sweeps devices of dead incarnations that a read found, which sweepers may have missed.
    func sweepDead(in snapshot: PresenceSnapshot) {
        guard !snapshot.standings.isEmpty else { return }
        let dead = snapshot.deadDevices
        if !dead.isEmpty { loop.host.sweep(dead) }
    }

    private func openWatch(_ user: UserID) -> Watch {
        loop.store.subscribe(.presence(user))
        return watches.insert(user) { Watch(user: user, number: $0, persons) }
    }
}

extension PresenceSnapshot {
    /// The devices of dead incarnations that are not marked gone yet.
    fileprivate var deadDevices: [HeldItem] {
        records.flatMap { record in
            record.devices.sorted { $0.key < $1.key }.compactMap { device, standing in
                guard standing.state != nil, standings[standing.incarnation]?.isDead == true else { return nil }
                let name = SessionName(user: record.user, device: device, session: standing.session)
                return HeldItem(.session(name), of: standing.incarnation)
            }
        }
    }
}
