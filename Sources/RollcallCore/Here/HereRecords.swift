// What sessions have entered: each entry is listed, written and, one lease after its exit, unlisted, one step at a time. An entry
// belongs to its session: it survives a lost connection, and ends with the session.

internal import RollcallProtocol

/// Owns the entries of sessions, from the enter until Redis holds nothing of them.
final class HereRecords {
    private let loop: Loop
    private let outbound: Outbound
    private let persons: Persons
    private let entries = Directory<EntryName, Entry>()
    private var ofSession: [Session: [Entry]] = [:]
    /// The earlier sessions of the same devices, whose entries end when these enter.
    private var predecessors: [Session: SessionID] = [:]
    /// Entries whose last step failed; the next heartbeat retries them.
    private var blocked: Set<Entry> = []
    /// The number of decisions so far: what is decided later of a session has a greater one.
    private var decisions: Int64 = 0

    init(_ loop: Loop, _ outbound: Outbound, _ persons: Persons) {
        (self.loop, self.outbound, self.persons) = (loop, outbound, persons)
    }

    /// The number of entries, including those that ended and are on the worker's list.
    var count: Int { entries.count }
    var blockedCount: Int { blocked.count }
    /// Whether Redis has every decision.
    var isWritten: Bool { entries.all.allSatisfy(\.isWritten) }

    /// How long the entries of replaced sessions still wait for the next ones to enter.
    func graceLeft(at now: Instant) -> Duration { entries.all.compactMap(\.ends).max().map { $0 - now } ?? .zero }

    /// How many conversations a session is in.
    func count(of session: Session) -> Int { ofSession[session]?.count(where: \.isEntered) ?? 0 }

    // MARK: What clients say

    /// Handles an `enter` in a conversation that the session has joined.
    func enter(
        _ conversation: ConversationID, _ data: HereData?, id: MessageID?, on session: Session, at now: Instant
    ) {
        guard let name = session.name else { return }
        let limits = loop.settings.limits
        guard data?.text.utf8.count ?? 0 <= limits.hereData else {
            session.peer?.limitHit(.hereData)
            return outbound.answer(session, .limit, id: id, "data has at most \(limits.hereData) bytes")
        }
        let entryName = EntryName(session: name, conversation: conversation)
        guard entries[entryName]?.isEntered == true || count(of: session) < limits.enteredConversations else {
            session.peer?.limitHit(.enteredConversations)
            return outbound.answer(
                session, .limit, id: id, "a session enters at most \(limits.enteredConversations) conversations")
        }
        let entry = entries[entryName] ?? insert(entryName, of: session)
        entry.entered(data)
        decide(entry, at: now)
        acknowledge(id, of: entry)
        writeAtPace(entry, at: now)
    }

    /// Handles an `exit`, or the end of the membership on which the entry depends.
    ///
    /// - Parameter isPaced: whether the client decides how often this happens.
    func exit(
        _ conversation: ConversationID, id: MessageID? = nil, isPaced: Bool = false, on session: Session,
        at now: Instant
    ) {
        guard let name = session.name,
            let entry = entries[EntryName(session: name, conversation: conversation)]
        else { return outbound.acknowledge(id, to: session) }
        entry.exited(isPaced: isPaced)
        decide(entry, at: now)
        acknowledge(id, of: entry)
        if isPaced { writeAtPace(entry, at: now) } else { advance(entry, at: now) }
    }

    private func insert(_ name: EntryName, of session: Session) -> Entry {
        let entry = entries.insert(name) { Entry(name: name, number: $0, session: session) }
        ofSession[session, default: []].append(entry)
        return entry
    }

    private func acknowledge(_ id: MessageID?, of entry: Entry) {
        guard let id else { return }
        guard entry.acks.count < loop.settings.bounds.waitingMessages else {
            return outbound.answerUnavailable(entry.session, id: id)
        }
        entry.acks.append((entry.sequence, id))
        acknowledgeWritten(entry)
    }

    private func acknowledgeWritten(_ entry: Entry) {
        for id in entry.takeWritten() { outbound.acknowledge(id, to: entry.session) }
    }

    // MARK: What happens to sessions

    /// The state of the device has changed, or what the token says of the user. A device in the background is not here.
    func changed(_ session: Session, at now: Instant) {
        for entry in ofSession[session] ?? [] {
            decide(entry, at: now)
            writeAtPace(entry, at: now)
        }
    }

    /// The session has taken the place of another on its device.
    func replaced(_ former: SessionID, by session: Session) { predecessors[session] = former }

    /// Redis has the session's record: what waited for that is written.
    func confirmed(_ session: Session, at now: Instant) {
        for entry in ofSession[session] ?? [] { advance(entry, at: now) }
    }

    /// The device is gone: its entries end at once.
    func gone(_ session: Session, at now: Instant) {
        // A session in its grace is lost; another one may hold the device by now.
        let isOwn = session.phase == .open
        for entry in ofSession[session] ?? [] { end(entry, isOwn: isOwn, at: now) }
    }

    private func end(_ entry: Entry, isOwn: Bool, at now: Instant) {
        entry.exited(isOwn: isOwn)
        decide(entry, at: now)
        advance(entry, at: now)
    }

    /// A newer session of the device has taken over. The entries that Redis has stay for a while, in which that one enters
    /// where its user still is; nobody goes over a reload.
    func replaced(_ session: Session, at now: Instant) {
        for entry in ofSession[session] ?? [] {
            guard entry.mayBeListed else {
                end(entry, isOwn: false, at: now)
                continue
            }
            entry.ends = now + loop.settings.grace
            loop.remind(.entry(entry), at: now + loop.settings.grace)
        }
    }

    /// Nothing of the session is left but its entries.
    func forget(_ session: Session) { predecessors[session] = nil }

    /// Handles an entry's moment: a deferred decision, the end of its grace, or that nothing of it can still come to Redis.
    func due(_ entry: Entry, at now: Instant) {
        guard !entry.isOver else { return }
        if let ends = entry.ends {
            if now < ends { return loop.remind(.entry(entry), at: ends) }
            entry.exited(isOwn: false)
            decide(entry, at: now)
        }
        writeAtPace(entry, at: now)
    }

    // MARK: The lease

    /// Handles a new incarnation. All entries are written again under it, because Redis may have lost data or gone back to an
    /// older state. A sweep removes what the former one left.
    func incarnationBegan(at now: Instant) {
        blocked = []
        for entry in entries.all {
            if entry.content != nil { decisions += 1 }
            entry.asserted(sequence: decisions)
            advance(entry, at: now)
        }
    }

    /// Handles a heartbeat that renewed the lease: tries again what failed.
    func heartbeatCame(resumesWrites: Bool, at now: Instant) {
        let all = resumesWrites ? entries.all : blocked.sorted { $0.number < $1.number }
        blocked = []
        for entry in all {
            entry.retry()
            advance(entry, at: now)
        }
    }

    /// Reads what Redis holds of these sessions' entries, with the audit of their records, and writes again what it lacks.
    func audit(_ sessions: [Session], of incarnation: Incarnation) {
        let settled = sessions.flatMap { ofSession[$0] ?? [] }.filter(\.isSettled)
        guard !settled.isEmpty else { return }
        loop.store.lines(of: settled.map(\.name)) { [self] reply in
            loop.after { now in
                guard let found = try? reply.get(), loop.redis.incarnation == incarnation else { return }
                for (entry, line) in zip(settled, found)
                where entry.isSettled && (line?.sequence != entry.sequence || line?.incarnation != incarnation) {
                    mend(entry, at: now)
                }
            }
        }
    }

    /// Once a round of the audit: if one of the entries is not on the list, the list was deleted.
    func auditList(of incarnation: Incarnation) {
        guard let one = entries.all.first(where: \.isSettled) else { return }
        loop.store.isListed(one.name, of: incarnation) { [self] reply in
            loop.after { now in
                guard (try? reply.get()) == false, one.isSettled, loop.redis.incarnation == incarnation else { return }
                for entry in entries.all where entry.isSettled { mend(entry, at: now) }
            }
        }
    }

    private func mend(_ entry: Entry, at now: Instant) {
        decisions += 1
        entry.asserted(sequence: decisions)
        loop.tally.auditMended += 1
        advance(entry, at: now)
    }

    // MARK: Steps

    /// Decides again what is shown of an entry.
    private func decide(_ entry: Entry, at now: Instant) {
        let recorder = entry.session.recorder
        let isVisible = persons.isInvisible(entry.name.session.user) != true
        let isSeen = isVisible && (recorder?.state == .active || recorder?.state == .idle)
        let content =
            entry.isEntered && isSeen
            ? HereWrite.Content(isIdle: recorder?.state == .idle, name: recorder?.profile.name, data: entry.data) : nil
        guard content != entry.content else { return }
        decisions += 1
        entry.decided(content, sequence: decisions)
    }

    /// Writes a decision now or, after a few in quick succession, with the newest decision once the pace allows.
    private func writeAtPace(_ entry: Entry, at now: Instant) {
        guard let next = entry.mayWrite(every: loop.settings.presenceCoalesce, at: now) else {
            return advance(entry, at: now)
        }
        loop.remind(.entry(entry), at: next)
    }

    private func advance(_ entry: Entry, at now: Instant) {
        guard !entry.isOver else { return }
        acknowledgeWritten(entry)
        guard !entry.isFinished else { return forget(entry) }
        guard let incarnation = loop.redis.incarnation else { return }
        // After its session, so that a session whose device another one has taken over writes nothing, and so that the earlier
        // session of the device is known, whose entry ends. Until it is known whether the user is invisible, what is shown stays,
        // and what is new waits.
        let isKnown = persons.isInvisible(entry.name.session.user) != nil
        guard entry.content == nil || entry.ends == nil && isKnown && entry.session.recorder?.isConfirmed == true
        else { return }
        let rest = loop.redis.until.since(loop.redis.time(at: now))
        switch entry.nextStep(
            under: incarnation, until: loop.redis.until, replacing: predecessors[entry.session], restingFor: rest,
            isSpread: loop.settings.isSpread,
            isOpen: loop.settings.asksAccess || entry.session.right.covers(entry.name.conversation), at: now)
        {
        case .list(let incarnation):
            loop.store.list(entry.name, of: incarnation, until: loop.redis.until) { [self] in
                replied($0, to: .list(incarnation), of: entry) { entry, isListed, _ in
                    if isListed { entry.listed() } else { entry.failed(.withoutEffect) }
                }
            }
        case .write(let write):
            loop.store.write(write) { [self] in
                replied($0, to: .write(write), of: entry) { entry, written, now in
                    if entry.written(written, write) { self.refused(entry, at: now) }
                }
            }
        case .unlist(let incarnation):
            loop.store.unlist(.entry(entry.name), of: incarnation) { [self] in
                replied($0, to: .unlist(incarnation), of: entry) { entry, _, _ in entry.unlisted() }
            }
        case .rest(let until): loop.remind(.entry(entry), at: until)
        case nil: break
        }
        if entry.isBlocked { blocked.insert(entry) }
    }

    private func replied<Answer>(
        _ reply: Result<Answer, StoreFailure>, to step: Entry.Step, of entry: Entry,
        _ succeeded: @escaping (Entry, Answer, Instant) -> Void
    ) {
        loop.after { now in
            guard !entry.isOver, entry.ended(step) else { return }
            switch reply {
            case .success(let answer): succeeded(entry, answer, now)
            case .failure(let failure): entry.failed(failure)
            }
            if entry.isBlocked { blocked.insert(entry) }
            advance(entry, at: now)
        }
    }

    /// The user may not be in the conversation.
    private func refused(_ entry: Entry, at now: Instant) {
        for (_, id) in entry.acks {
            outbound.answer(entry.session, .notAMember, id: id, "you are not a member of this conversation")
        }
        entry.acks = []
        entry.exited(isOwn: false)
        decide(entry, at: now)
    }

    private func forget(_ entry: Entry) {
        entry.over()
        entries.remove(entry.name)
        blocked.remove(entry)
        loop.forget(.entry(entry))
        ofSession[entry.session]?.removeAll { $0 == entry }
        if ofSession[entry.session]?.isEmpty == true { ofSession[entry.session] = nil }
    }
}

// MARK: One entry

/// A session in a conversation, from its enter until Redis holds nothing of it.
final class Entry: Numbered {
    enum Step: Hashable {
        case list(Incarnation)
        case write(HereWrite)
        case unlist(Incarnation)
        /// Nothing, until then.
        case rest(Instant)
    }

    let name: EntryName
    let number: Int32
    let session: Session
    private(set) var isOver = false
    /// Whether the client is in, though perhaps in the background; and what it shows.
    private(set) var isEntered = false
    private(set) var data: HereData?
    /// Whether the session itself ends the entry, and is not only lost.
    private var isOwnExit = true
    /// When the entry of a replaced session ends.
    var ends: Instant?
    /// Messages to acknowledge once a decision is in Redis.
    var acks: [(sequence: Int64, id: MessageID)] = []

    /// The last decision: what is shown, `nil` for nothing; and its number.
    private(set) var content: HereWrite.Content?
    private(set) var sequence: Int64 = 0
    private var writtenSequence: Int64 = 0
    private var pace = ChangePace()
    private var isDeferred = false
    /// Whether Redis may hold something of it.
    private var wasAsked = false
    /// The incarnation on whose list the entry is, or may be if the reply is missing.
    private var listedUnder: Incarnation?
    private var isListed = false
    private var underWay: Step?
    private(set) var isBlocked = false
    /// Whether the reply to an enter was lost, which may still come to Redis until its deadline.
    private var mayComeLate = false
    /// When no enter can come to Redis any more that was sent before the exit.
    private var rests: Instant?
    private var since: Timestamp?

    init(name: EntryName, number: Int32, session: Session) {
        (self.name, self.number, self.session) = (name, number, session)
    }

    var isWritten: Bool { writtenSequence == sequence }
    /// Whether Redis should hold its line.
    var isSettled: Bool { content != nil && isWritten && underWay == nil && isListed && ends == nil && !isOver }
    /// Whether Redis may hold a line of it under the present incarnation.
    var mayBeListed: Bool { listedUnder != nil }
    /// Whether nothing is left, in Redis or on its way there.
    var isFinished: Bool { content == nil && !isEntered && isWritten && underWay == nil && listedUnder == nil }

    func over() { isOver = true }

    // MARK: Decisions

    func entered(_ data: HereData?) { (isEntered, self.data, isOwnExit) = (true, data, true) }

    /// - Parameter isPaced: whether the client decides how often this happens.
    func exited(isPaced: Bool = false, isOwn: Bool = true) {
        (isEntered, data, ends, isOwnExit) = (false, nil, nil, isOwn)
        if !isPaced { isDeferred = false }
    }

    func decided(_ content: HereWrite.Content?, sequence: Int64) {
        (self.content, self.sequence, rests) = (content, sequence, nil)
        // There is nothing to take back.
        if content == nil, !wasAsked { writtenSequence = sequence }
    }

    /// The first four decisions after a quiet time are written at once, later ones at most once per interval.
    ///
    /// - Returns: when to write the newest one; `nil` for now.
    func mayWrite(every interval: Duration, at now: Instant) -> Instant? {
        isDeferred = false
        guard !isWritten else { return nil }
        let next = pace.next(every: interval)
        isDeferred = now < next
        if !isDeferred { pace.passed(at: now, every: interval) }
        return isDeferred ? next : nil
    }

    /// Removes and returns the acknowledgements of decisions that are in Redis by now.
    func takeWritten() -> [MessageID] {
        let due = acks.prefix { $0.sequence <= writtenSequence }
        acks.removeFirst(due.count)
        return due.map(\.id)
    }

    // MARK: Steps

    /// Handles a new incarnation.
    func asserted(sequence: Int64) {
        (underWay, isBlocked, isDeferred, rests) = (nil, false, false, nil)
        unlisted()
        if content != nil { self.sequence = sequence }
    }

    func retry() { isBlocked = false }

    /// Returns the next step; `nil` while one is in flight, or if there is nothing to do.
    ///
    /// - Parameters:
    ///   - former: the earlier session of the device, whose entry ends.
    ///   - rest: how long an enter may take that was sent before an exit.
    ///   - isSpread: whether one of several servers may forget an exit, and the lease stands.
    ///   - isOpen: whether the session may be there while the conversation has no members.
    func nextStep(
        under incarnation: Incarnation, until: Timestamp, replacing former: SessionID?, restingFor rest: Duration,
        isSpread: Bool, isOpen: Bool, at now: Instant
    ) -> Step? {
        guard underWay == nil, !isBlocked, !isDeferred else { return nil }
        guard isWritten else {
            guard content == nil || isListed else {
                listedUnder = incarnation
                return begin(.list(incarnation))
            }
            return begin(
                .write(
                    HereWrite(
                        entry: name, content: content, incarnation: incarnation, sequence: sequence, until: until,
                        isOpen: isOpen, replaced: former, since: since, isOwnExit: content == nil && isOwnExit)))
        }
        guard content == nil, let listedUnder else { return nil }
        let moment = rests ?? now + max(.zero, rest)
        if rests == nil, isSpread { mayComeLate = true }
        rests = moment
        if now < moment { return .rest(moment) }
        guard mayComeLate else { return begin(.unlist(listedUnder)) }
        mayComeLate = false
        return begin(
            .write(HereWrite(entry: name, content: nil, incarnation: incarnation, sequence: sequence, until: until)))
    }

    private func begin(_ step: Step) -> Step {
        (underWay, wasAsked) = (step, true)
        return step
    }

    /// Handles the end of a step.
    ///
    /// - Returns: false if it is another incarnation's.
    func ended(_ step: Step) -> Bool {
        guard underWay == step else { return false }
        underWay = nil
        return true
    }

    func listed() { isListed = true }
    func unlisted() { (listedUnder, isListed) = (nil, false) }

    /// - Returns: whether the user may not be there.
    func written(_ written: HereWritten, _ write: HereWrite) -> Bool {
        guard written.outcome != .expired else {
            isBlocked = true
            return false
        }
        since = written.since
        writtenSequence = write.sequence
        return written.outcome == .notAMember
    }

    func failed(_ failure: StoreFailure) {
        isBlocked = true
        if failure == .unknown { mayComeLate = true }
    }
}
