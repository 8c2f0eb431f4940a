// Other users: the presence of those who are observed, and of those who are asked for once.

/// A call that reads presence once. Created on any thread, used on the client's queue only.
final class Read: @unchecked Sendable {
    fileprivate var awaited: Set<UserID>
    fileprivate var found: [UserID: Presence] = [:]
    fileprivate var deadline: ContinuousClock.Instant?
    fileprivate var done: (([UserID: Presence]) -> Void)?
    /// The conversation that may share them with this session, and the end of its use.
    fileprivate let conversation: ConversationID?
    fileprivate var unshare: (() -> Void)?

    init(of users: some Sequence<UserID>, in conversation: ConversationID?) {
        awaited = Set(users)
        self.conversation = conversation
    }
}

/// The first observer of a user makes the client ask the worker for it, and the last one makes the client give it up. A
/// value without observers is kept as long as the worker still sends it: a new observer may come before that is told.
///
/// Used on the client's queue only.
final class People {
    private unowned let engine: Engine
    private(set) var presences: [UserID: Observed<Presence>] = [:]
    /// In the order in which they began. They survive the end of a connection.
    private(set) var reads: [Read] = []
    /// Whether a presence that is dropped is shown as that of a user who was never seen.
    private(set) var showsNobody = false
    /// Whether somebody is observed, or can be seen, who could not before.
    private var isRuleDue = false
    private var toldNotShared = false

    init(in engine: Engine) {
        self.engine = engine
    }

    /// Whether a text says when somebody was last seen.
    var hasLastSeen: Bool {
        presences.values.contains { $0.latest.map { $0.status == .offline && $0.lastSeen != nil } ?? false }
    }
    var deadline: ContinuousClock.Instant? { reads.reduce(nil) { earliest($0, $1.deadline) } }

    func deadlinePassed(at now: ContinuousClock.Instant) {
        for read in reads where read.deadline.map({ now >= $0 }) ?? false { end(read) }
    }

    func close() {
        for read in reads { end(read) }
        emptied()
        presences = [:]
    }

    /// What is shown becomes empty.
    func emptied() {
        showsNobody = true
        forget()
        showsNobody = engine.isClosed
    }

    /// Nobody's presence is known any more, until it is received again.
    func forget() {
        for presence in presences.values { presence.forget() }
    }

    func latest(of user: UserID) -> Presence? { presences[user]?.latest }

    /// - Parameters:
    ///   - conversations: those that may share these users with this session.
    ///   - forgotten: called when what was received of this user is no longer known.
    /// - Returns: a function that ends the observation.
    func observe(
        _ users: [UserID], in conversations: [ConversationID] = [], _ hear: @escaping (Presence) -> Void,
        forgotten: @escaping (UserID) -> Void = { _ in }
    ) -> () -> Void {
        let shares = conversations.map { engine.rooms.share($0) }
        let endings = users.map { user in
            // Whether they are to be shared, the first welcome says, and then they are asked for after what shares them.
            if conversations.isEmpty || engine.right != nil { engine.outbox.users.want(user) }
            return (user, presence(of: user).add(hear) { forgotten(user) })
        }
        ruleChanged()
        return { [weak self] in
            for (user, end) in endings { self?.released(user, end) }
            for end in shares { end() }
        }
    }

    /// The first welcome has told which rule holds.
    func ruleLearnt() {
        for (user, presence) in presences where presence.isAskedFor { engine.outbox.users.want(user) }
        for read in reads where read.conversation != nil { engine.outbox.gets.formUnion(read.awaited) }
    }

    /// Whom this session may see may have changed, or whom the app wants to see.
    func ruleChanged() {
        isRuleDue = true
        engine.changed()
    }

    /// Tells the app, once, that it observes somebody whom no rule lets it see.
    func checkRule() {
        guard isRuleDue, !toldNotShared, engine.connection.isOpen, let right = engine.right, right != .all else {
            return
        }
        isRuleDue = false
        let hidden = presences.keys.filter { user in
            presences[user]?.isAskedFor == true && user != engine.ownUser && !right.covers(user)
                && engine.rooms.all.allSatisfy { $0.sharesNot(user) }
        }
        guard let user = hidden.min() else { return }
        toldNotShared = true
        engine.report(
            RollcallError(
                .notShared,
                "this session may not see \(user), who looks as if never seen: name a conversation of both (in:), or let the "
                    + "token's claim watch or access.watch name them"))
    }

    /// The worker sends the presence of members without being asked.
    func observeMember(_ user: UserID, _ heard: @escaping () -> Void) -> () -> Void {
        let end = presence(of: user).add(asking: false) { _ in heard() }
        return { [weak self] in self?.released(user, end) }
    }

    /// Emits at most one value per tick: a snapshot of a thousand users is one value.
    func observeTogether(
        _ users: [UserID], in conversation: ConversationID?, _ hear: @escaping ([UserID: Presence]) -> Void
    ) -> () -> Void {
        var (presences, isDue) = ([UserID: Presence](), false)
        let changed = { [unowned engine] in
            guard !isDue else { return }
            isDue = true
            engine.atEndOfTick {
                isDue = false
                hear(presences)
            }
        }
        return observe(users, in: conversation.map { [$0] } ?? []) {
            presences[$0.user] = $0
            changed()
        } forgotten: {
            presences[$0] = nil
            changed()
        }
    }

    private func presence(of user: UserID) -> Observed<Presence> {
        if let known = presences[user] { return known }
        let new = Observed<Presence> { [shared = engine.shared] latest in
            shared.withLock { $0.presences[user] = latest }
        }
        presences[user] = new
        engine.changed()
        return new
    }

    private func released(_ user: UserID, _ end: () -> Void) {
        end()
        guard let presence = presences[user] else { return }
        if !presence.isAskedFor, engine.outbox.users.isWanted(user) { engine.outbox.users.unwant(user) }
        tidy(user)
        engine.changed()
    }

    /// Drops a user whom nobody observes and whom the worker no longer sends.
    func tidy(_ user: UserID) {
        guard presences[user]?.isObserved == false, engine.outbox.users.way(of: user) == nil else { return }
        presences.removeValue(forKey: user)?.forget()
    }

    func tidyAll() {
        for user in presences.keys { tidy(user) }
    }

    func heard(_ heard: [Presence]) {
        for presence in heard { presences[presence.user]?.update(presence) }
    }
}

// Presence that is read once.
extension People {
    /// Calls `done` when all of it is known, or with what is known when the time limit passes.
    func begin(_ read: Read, within limit: Duration, done: @escaping ([UserID: Presence]) -> Void) {
        guard !engine.isClosed, !read.awaited.isEmpty else { return done([:]) }
        read.deadline = engine.now + limit
        read.done = done
        reads.append(read)
        read.unshare = read.conversation.map { engine.rooms.share($0) }
        if engine.connection.isOpen, mayAsk(read) { engine.outbox.gets.formUnion(read.awaited) }
        engine.changed()
    }

    /// Ends a call with the presence received so far.
    func end(_ read: Read) {
        guard let done = read.done else { return }
        read.done = nil
        read.unshare.take()?()
        reads.removeAll { $0 === read }
        engine.outbox.getEnded(read.awaited.filter { user in !reads.contains { $0.awaited.contains(user) } })
        done(read.found)
        engine.changed()
    }

    func connectionOpened() {
        for read in reads where mayAsk(read) { engine.outbox.gets.formUnion(read.awaited) }
    }

    private func mayAsk(_ read: Read) -> Bool { read.conversation == nil || engine.right != nil }

    func read(_ heard: [Presence]) {
        for read in reads {
            for presence in heard where read.awaited.remove(presence.user) != nil {
                read.found[presence.user] = presence
            }
            if read.awaited.isEmpty { end(read) }
        }
    }

    /// Handles that the worker does not answer for these users.
    func readRefused(_ users: [UserID]) {
        for read in reads where users.contains(where: read.awaited.contains) { end(read) }
    }
}
