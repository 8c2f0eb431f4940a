// The decisions of one event loop of a worker. A shard does no I/O and reads no clock: it asks its store, tells its peers and
// has its host wake it. So a test, or a simulation of many workers, can drive it exactly as a worker does.
//
// Each state has one owner, a class in the file of its name, with all rules that read or change it. An owner is given those
// that it may call, and none of them knows it: references only go down. What concerns several owners is in what is given
// them all, or here: the order of a tick, of a change of the lease, and of what a channel brings.

public import RollcallProtocol

/// Something that happens to a shard, at a moment.
public typealias ShardEvent = (_ shard: Shard, _ now: Instant) -> Void

/// The state and decisions of one shard: its sessions, the rooms they have joined, and the users they watch. Used on one
/// thread only, its host's.
///
/// All that happens is an event of its own: ``after(_:)``. At the end of each event-loop tick, the host calls ``endTick()``,
/// which combines changes into fewer messages and reads.
public final class Shard {
    let loop: Loop
    let table: SessionTable
    let outbound: Outbound
    let persons: Persons
    let budgets: UserBudgets
    let watches: Watches
    let typing: TypingSignals
    let typingFanOut: TypingFanOut
    let memberLists: MemberLists
    let hereRecords: HereRecords
    let backendEntries: BackendEntries
    let hereLists: HereLists
    let conversations: Conversations
    let records: DeviceRecords
    let sessions: Sessions
    let inbox: Inbox

    /// - Parameters:
    ///   - worker: the worker's name in `welcome` before it holds a lease.
    ///   - clock: the estimate of Redis time before the first heartbeat.
    public init(
        settings: ShardSettings, worker: String, store: any PresenceStore,
        random: some RandomNumberGenerator & Sendable,
        clock: RedisClock = .unknown
    ) {
        let redis = RedisState(worker: worker, lease: .zero, heartbeat: .zero, clock: clock)
        let rooms = Directory<ConversationID, Room>()
        loop = Loop(settings: settings, store: store, redis: redis)
        table = SessionTable(random: random)
        outbound = Outbound(loop)
        persons = Persons(loop, outbound, table)
        budgets = UserBudgets(loop)
        watches = Watches(loop, outbound, persons)
        typing = TypingSignals(loop, outbound, rooms, persons)
        typingFanOut = TypingFanOut(loop, outbound, table)
        memberLists = MemberLists(loop, outbound, watches)
        hereRecords = HereRecords(loop, outbound, persons)
        backendEntries = BackendEntries(loop)
        hereLists = HereLists(loop, outbound, rooms, backendEntries)
        conversations = Conversations(
            loop, outbound, table, rooms, budgets, typing, typingFanOut, watches, memberLists, hereRecords, hereLists,
            Admissions(loop, table, budgets))
        records = DeviceRecords(loop, outbound, table, hereRecords, persons)
        sessions = Sessions(loop, table, outbound, budgets, watches, conversations, records, hereRecords)
        inbox = Inbox(loop, budgets, outbound, persons, watches, conversations, records, hereRecords, sessions)
        records.fate = self
        persons.fate = self
    }

    /// Set before the first event.
    public var host: (any Host)! {
        get { loop.host }
        set { loop.host = newValue }
    }

    /// What the loop of the lease last published.
    public var redis: RedisState { loop.redis }

    // MARK: Events

    /// Whether an event happens at this moment. What comes meanwhile has to wait.
    public var isInEvent: Bool { loop.isInEvent }

    /// Lets an event happen. Events of peers, replies and whatever else happens must not come inside another.
    public func after(_ event: ShardEvent) {
        loop.eventBegins()
        event(self, loop.host.now)
        loop.eventEnds()
        loop.endTickSoon()
    }

    /// Ends an event-loop tick: sends the changes of this tick together, and requests reads in batches. If there is more to
    /// tell, the next tick follows as soon as the messages of this one are flushed.
    public func endTick() {
        loop.tickEnds()
        loop.eventBegins()
        let now = loop.host.now
        typingFanOut.sendChanges(at: now)
        memberLists.sendChanges(at: now)
        hereLists.sendChanges(at: now)
        watches.sendChanges(at: now)
        outbound.sendPendingUpdates()
        watches.requestReads(at: now)
        persons.requestReads()
        conversations.readUnclearRooms()
        loop.eventEnds()
        if hasMoreToTell { loop.endTickSoon() }
    }

    /// When ``timePassed(at:)`` next has something to do.
    public var nextDeadline: Instant? { loop.nextReminder }

    /// Handles elapsed time: does everything that is due.
    public func timePassed(at now: Instant) {
        loop.woke()
        while let reminder = loop.nextDue(at: now) {
            switch reminder {
            case .session(let session): sessions.due(session, at: now)
            case .typing(let session): typing.due(session, at: now)
            case .turns(let user): inbox.takeTurns(of: user, at: now)
            case .state(let session): records.stateDue(session, at: now)
            case .watch(let watch): watches.queue(watch)
            case .person(let user): persons.due(user, at: now)
            case .room(let room): typingFanOut.due(room, at: now)
            case .access(let room): conversations.accessDue(room, at: now)
            case .members(let room): memberLists.queue(room)
            case .here(let room): hereLists.queue(room)
            case .hereEnds(let room): hereLists.due(room, at: now)
            case .gets(let session): watches.askLate(on: session, at: now)
            case .entry(let entry): hereRecords.due(entry, at: now)
            case .backendEntry(let entry): backendEntries.advance(entry, at: now)
            case .weakerStates: records.writeWeakerStates(at: now)
            }
        }
    }

    // MARK: The lease

    /// Handles a change of the worker's lease.
    public func told(_ news: LeaseNews, at now: Instant) {
        let former = loop.redis
        switch news {
        case .began(let redis, let snapshot, let lastBeat):
            // Everything is written again, and everything shown is read again: Redis may have lost data or gone back to an
            // older state.
            loop.leaseChanged(to: redis)
            let incarnation = Incarnation(name: former.workerName)
            persons.incarnationBegan()
            records.incarnationBegan(after: incarnation, snapshot, lastBeat: lastBeat, at: now)
            hereRecords.incarnationBegan(at: now)
            backendEntries.incarnationBegan(snapshot, at: now)
            typing.retryStops(at: now)
            readAllAgain(authoritatively: false, at: now)
        case .renewed(let redis, let snapshot):
            loop.leaseChanged(to: redis)
            backendEntries.heartbeatCame(snapshot, resumesWrites: !former.takesWrites, at: now)
            leaseRenewed(since: former, at: now)
        case .heartbeatsFail(let redis):
            // Nothing is written until a heartbeat succeeds. Reads go on under the rules of an outage.
            loop.leaseChanged(to: redis)
            if !former.answersReads { readAllAgain(authoritatively: false, at: now) }
            if former.takesWrites || !former.answersReads {
                for session in table.all { records.proveByRead(session, at: now) }
            }
            watches.heartbeatCame()
            retryReads(at: now)
        case .lost(let redis):
            // Redis is unreachable or the lease may be lost: nothing can be written until the next incarnation.
            loop.leaseChanged(to: redis)
            for session in table.all { inbox.proven(session, at: now) }
        }
    }

    /// Handles a heartbeat that renewed the lease and read all others. Everything is read authoritatively once the last
    /// outage has settled.
    private func leaseRenewed(since former: RedisState, at now: Instant) {
        if former.judgement.isSettling, !loop.redis.judgement.isSettling {
            readAllAgain(authoritatively: true, at: now)
        } else if loop.redis.judgement.hasLostWorker(since: former.judgement) {
            watches.workerLost()
        }
        watches.heartbeatCame()
        persons.heartbeatCame()
        records.heartbeatCame(resumesWrites: !former.takesWrites, at: now)
        hereRecords.heartbeatCame(resumesWrites: !former.takesWrites, at: now)
        typing.retryStops(at: now)
        records.sweepIfNeeded()
        retryReads(at: now)
        records.continueAudit(at: now)
    }

    private func readAllAgain(authoritatively: Bool, at now: Instant) {
        watches.readAgain(authoritatively: authoritatively)
        conversations.readAgain()
        hereLists.readAgain(at: now)
    }

    private func retryReads(at now: Instant) {
        conversations.retryReads()
        hereLists.retryReads(at: now)
    }

    // MARK: Channels

    /// Handles the confirmation of a channel: a read that starts now misses nothing.
    public func subscribed(_ topic: Topic, at now: Instant) {
        switch topic {
        case .presence(let user): watches.confirmed(user)
        case .typing(let conversation), .members(let conversation): conversations.confirmed(topic, of: conversation)
        case .here(let conversation): hereLists.confirmed(conversation, at: now)
        case .worker: persons.noticesMissed()
        }
    }

    /// Handles the loss of the connection that receives changes. What is shown stays as it is until each channel is
    /// confirmed and read again.
    public func subscriptionsLost() {
        conversations.channelsLost()
        hereLists.channelsLost()
        watches.channelsLost()
    }

    /// Handles the loss of one channel, because one of several servers was lost or the channel moves to another server.
    /// Works like ``subscriptionsLost()`` for a single channel.
    public func subscriptionLost(_ topic: Topic) {
        switch topic {
        case .presence(let user): watches.channelLost(user)
        case .typing(let conversation), .members(let conversation): conversations.channelLost(topic, of: conversation)
        case .here(let conversation): hereLists.channelLost(conversation)
        case .worker: break
        }
    }

    /// Handles what was published. What an unreadable change is about is read from Redis.
    public func receive(_ payload: UnsafeRawBufferPointer, on topic: Topic, at now: Instant) {
        switch topic {
        case .typing(let conversation):
            guard let change: TypingChange = loop.parsed(payload) else { return typingUnreadable(in: conversation) }
            conversations.typingPublished(change, in: conversation, at: now)
        case .presence(let user):
            switch loop.parsed(payload) as PresenceNews? {
            case .presence(let change): watches.published(change, at: now)
            case .person(let change): personChanged(change, at: now)
            case nil: presenceUnreadable(of: user)
            }
        case .members(let conversation):
            memberChanged(loop.parsed(payload) ?? .reset, in: conversation, at: now)
        case .here(let conversation):
            guard let change: HereChange = loop.parsed(payload) else {
                return hereLists.unreadable(in: conversation, at: now)
            }
            hereLists.published(change, in: conversation, at: now)
        case .worker:
            if let notice = WorkerNotice(payload: payload) { loop.host.received(notice) }
        }
    }

    package func typingChanged(_ change: TypingChange, in conversation: ConversationID, at now: Instant) {
        conversations.typingPublished(change, in: conversation, at: now)
    }

    package func typingUnreadable(in conversation: ConversationID) {
        conversations.typingUnreadable(in: conversation)
    }

    package func memberChanged(_ change: MemberChange, in conversation: ConversationID, at now: Instant) {
        conversations.membersPublished(change, in: conversation, at: now)
    }

    package func hereChanged(_ change: HereChange, in conversation: ConversationID, at now: Instant) {
        hereLists.published(change, in: conversation, at: now)
    }

    package func presenceChanged(_ change: PresenceChange, at now: Instant) { watches.published(change, at: now) }

    /// What a user lets others see has changed.
    package func personChanged(_ change: PersonChange, at now: Instant) { persons.published(change, at: now) }

    package func presenceUnreadable(of user: UserID) { watches.unreadable(user) }

    /// Handles an answer of the app's server.
    public func answered(_ verdict: AccessQueue.Verdict, at now: Instant) { conversations.answered(verdict, at: now) }

    /// Handles a message to the worker, which may concern a session of this shard.
    public func noticed(_ notice: WorkerNotice, at now: Instant) {
        let session = notice.session.flatMap { table.named($0) }
        switch notice {
        case .replaced: if let session { sessions.end(session, .replaced, at: now) }
        case .sentAway: if let session { sessions.end(session, .sentAway, at: now) }
        case .hereEnded(let entry, let sequence): backendEntries.ended(entry, upTo: sequence, at: now)
        case .erased(let user): backendEntries.erased(user, at: now)
        case .person(let user, let revision): persons.named(revision, of: user, at: now)
        case .moved, .rebalance: break
        }
    }
}

// MARK: Apps' servers

extension Shard {
    /// Has a user be here for this long on behalf of an app's server, in place of whatever servers have said of the user there. If
    /// that fails, what was said before stays.
    package func enter(
        _ user: UserID, in conversation: ConversationID, _ content: HereWrite.Content, for duration: Duration,
        at now: Instant, reply: @escaping BackendReply
    ) {
        let name = EntryName(ofServersFor: user, in: conversation)
        backendEntries.enter(name, content, for: duration, at: now, reply: reply)
    }

    /// Ends whatever servers have said of a user's being here.
    package func exit(
        _ user: UserID, in conversation: ConversationID, at now: Instant, reply: @escaping BackendReply
    ) {
        backendEntries.exit(EntryName(ofServersFor: user, in: conversation), at: now, reply: reply)
    }

    /// Takes over what a dead incarnation held for apps' servers, before the rest is swept.
    ///
    /// - Parameter done: whether nothing of it is left under that incarnation.
    package func adopt(_ items: [ListItem], of dead: Incarnation, done: @escaping (Bool) -> Void) {
        let names = items.compactMap { item -> EntryName? in
            guard case .entry(let name) = item, name.isOfServers else { return nil }
            return name
        }
        backendEntries.adopt(names, of: dead, done: done)
    }
}

// MARK: Peers

extension Shard {
    /// Handles a new connection.
    public func connected(_ peer: any Peer) -> Session { sessions.connected(peer) }

    /// Handles the end of a connection for any reason but a goodbye.
    ///
    /// - Parameter silence: the time since the last received byte, which is when the device was last known to be
    ///   present.
    public func disconnected(_ session: Session, silence: Duration, at now: Instant) {
        sessions.disconnected(session, silence: silence, at: now)
    }

    /// Handles a valid message from a client.
    public func received(_ request: ClientRequest, on session: Session, at now: Instant) {
        inbox.received(request, on: session, at: now)
    }

    /// Handles an invalid message from a client; the session goes on.
    public func received(_ error: MessageError, on session: Session, at now: Instant) {
        inbox.received(error, on: session, at: now)
    }

    /// Handles a text frame that holds no JSON object.
    public func receivedGarbage(on session: Session, at now: Instant) {
        inbox.receivedGarbage(on: session, at: now)
    }

    /// Handles that a session's outbound data is backing up. From now on, changes are noted and not sent until it
    /// catches up. Replies are still sent at once.
    public func fellBehind(_ session: Session) { outbound.fellBehind(session) }

    /// Handles that a session's outbound data was flushed, and sends the current state of what it missed.
    public func caughtUp(_ session: Session, at now: Instant) {
        for get in outbound.caughtUp(session) { watches.ask(for: get.users, id: get.id, on: session, at: now) }
    }

    /// Starts the shutdown: each device is disconnected at a random moment within `spread`.
    ///
    /// - Parameter destinations: other workers. Each device gets one of them.
    package func drain(over spread: Duration, to destinations: [Destination] = [], at now: Instant) {
        sessions.drain(over: spread, to: destinations, at: now)
    }

    /// Moves so many devices to other workers within `spread`, those that are not active first; the shard goes on.
    package func shed(_ count: Int, over spread: Duration, to destinations: [Destination], at now: Instant) {
        sessions.shed(count, over: spread, to: destinations, at: now)
    }

    /// How many connected devices can be moved: all but those in this process.
    package var movableCount: Int { sessions.movableCount }

    /// Whether no device is connected and, if Redis accepts writes, every decision is written.
    public var isDrained: Bool { sessions.isDrained }
}

// The calls that go up.
extension Shard: SessionFate {
    /// Ends a session: tells the client what ``SessionEnd`` says, closes, and does with the device what it says.
    package func end(_ session: Session, _ end: SessionEnd, at now: Instant) { sessions.end(session, end, at: now) }

    func proven(_ session: Session, at now: Instant) {
        persons.tell(session)
        inbox.proven(session, at: now)
    }

    func personChanged(_ user: UserID, at now: Instant) {
        let sessions = table.of(user)
        watches.personChanged(user, sessions, at: now)
        for session in sessions {
            if session.phase == .open, persons.isInvisible(user) == true {
                conversations.stopTypingEverywhere(session, at: now)
            }
            hereRecords.changed(session, at: now)
            if !session.isUnproven {
                persons.tell(session)
            } else if session.knowsPerson, !persons.isUnknown(user) {
                proven(session, at: now)
            }
        }
    }
}

// MARK: Reads for servers and operators

extension Shard {
    /// Returns the presence to show for users that were read, watched or not, for a server or on behalf of somebody.
    package func presences(in snapshot: PresenceSnapshot, for asker: Asker? = nil) -> [(
        shown: ShownPresence, sight: Sight
    )] {
        watches.presences(in: snapshot, for: asker)
    }

    /// Returns whether to push, for users that were read without a worker that counts as alive.
    package func reach(in snapshot: PresenceSnapshot, at now: Instant) -> [UserID: Reach] {
        let (standings, time) = (redis.judgement.counting(snapshot.standings), redis.time(at: now))
        let found = snapshot.records.map {
            ($0.user, Reach($0, past: standings, snapshot.persons[$0.user] ?? nil, at: time))
        }
        return Dictionary(found) { first, _ in first }
    }

    /// Sweeps devices of dead incarnations that a read found, which sweepers may have missed.
    public func metDead(in snapshot: PresenceSnapshot) { watches.sweepDead(in: snapshot) }

    /// Returns who is here of those that were read. What dead incarnations held, and what has ended, is swept.
    package func judged(_ here: HereSnapshot, at time: Timestamp, now: Instant) -> HereSnapshot {
        hereLists.judged(here, at: time, now: now)
    }

    /// Explains the presence that readers see of a user.
    public func explanation(of report: UserReport, at now: Instant) -> Explanation {
        let standings = redis.known(at: now).judged(report.workers.standings)
        return Explanation(
            report, shown: watches.visible(report.record, standings).presence.shown(in: .whole), standings,
            isSettling: redis.judgement.isSettling, grace: loop.settings.grace)
    }

    /// Returns the conversations with the most typists, the busiest first, and none without typists.
    public func busiest(_ count: Int, at now: Instant) -> [BusyConversation] {
        BusyConversation.busiest(count, of: conversations.all, at: now)
    }
}

// MARK: Figures

extension Shard {
    /// Counters of what has happened so far.
    public var tally: ShardTally { loop.tally }
    /// The number of sessions, including those in their grace period.
    public var sessionCount: Int { table.count }
    /// The number of welcomed and connected sessions.
    public var openSessionCount: Int { table.openCount }
    /// Sessions that have a connection, welcomed or not.
    public var connectionCount: Int { table.count - table.lingeringCount }
    /// Sessions that have ended or are in their grace period, and whose records are not settled yet.
    public var lingeringSessionCount: Int { table.lingeringCount }
    /// The longest grace that is left of sessions here and of what they have entered: a device may come back elsewhere until then.
    public func graceLeft(at now: Instant) -> Duration {
        max(table.count == 0 ? .zero : loop.settings.grace, hereRecords.graceLeft(at: now))
    }
    /// Conversations that sessions here have joined, or are joining.
    public var roomCount: Int { conversations.count }
    /// Users who are hidden because Redis does not have what their records name.
    public var missingPersonCount: Int { persons.missingCount }
    /// Users that sessions here watch.
    public var watchCount: Int { watches.count }
    /// The number of typists last sent to sessions here, summed over all conversations.
    public var typistCount: Int { typingFanOut.typistCount }
    /// Sessions that are behind, or are being sent a snapshot.
    public var backlogCount: Int { outbound.backlogCount }
    /// Rooms, member lists and users with changes that were not sent yet.
    public var untoldCount: Int {
        typingFanOut.changeCount + memberLists.changeCount + hereLists.changeCount + watches.changeCount
    }
    /// Entries of sessions and of apps' servers here, including those that have ended and are on the worker's list.
    public var entryCount: Int { hereRecords.count + backendEntries.count }
    /// Whether more changes wait than one tick sends.
    public var hasMoreToTell: Bool { untoldCount > 0 }
    /// Sessions whose last decision is not in Redis because the last attempt failed.
    public var unwrittenCount: Int { records.blockedCount }

    /// Whether messages of a session wait for the budget of its user.
    package func waitsForBudget(_ session: Session) -> Bool {
        session.held != nil && !session.isUnproven
    }
    /// The number of messages of a session that wait to be processed; `nil` if it has no connection.
    package func heldMessageCount(of session: Session) -> Int? {
        guard session.isConnected else { return nil }
        return session.held?.count ?? 0
    }
}
