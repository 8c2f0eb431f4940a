// How Redis comes to hold what sessions decide: each session's record is listed, written and unlisted, one step at a
// time. What failed is tried again with the next heartbeat, and the audit finds everything else.

internal import RollcallProtocol

/// The end of a session, and its proof, which the replies of Redis decide.
protocol SessionFate: AnyObject {
    /// What a user has decided that others see has changed, or is known now.
    func personChanged(_ user: UserID, at now: Instant)
    func end(_ session: Session, _ end: SessionEnd, at now: Instant)
    /// Redis has told that the token was not revoked, or cannot tell.
    func proven(_ session: Session, at now: Instant)
}

/// Owns what Redis does not hold yet of what sessions decided.
final class DeviceRecords {
    private let loop: Loop
    private let outbound: Outbound
    private let table: SessionTable
    private let hereRecords: HereRecords
    private let persons: Persons
    /// Who ends sessions: the way up.
    weak var fate: (any SessionFate)?
    /// Sessions whose last step failed; the next heartbeat retries them. Only sessions that exist.
    private var blocked: Set<Session> = []
    /// Whether a session was dropped whose device, or entry on the worker's list, is still in Redis. Only a sweep of
    /// this incarnation removes that.
    private var needsSweep = false
    private var weakerStates = WeakerStates()
    private var audit = Audit()

    init(
        _ loop: Loop, _ outbound: Outbound, _ table: SessionTable, _ hereRecords: HereRecords, _ persons: Persons
    ) {
        (self.loop, self.outbound, self.table, self.hereRecords) = (loop, outbound, table, hereRecords)
        self.persons = persons
        loop.onListed = { [weak self] in self?.listed($0, $1, $2, under: $3, at: $4) }
    }

    /// The number of sessions whose last step failed.
    var blockedCount: Int { blocked.count }

    // MARK: The lease

    /// Handles a new incarnation. All sessions are written again under it, because Redis may have lost data or gone back to
    /// an older state. The former one is swept.
    ///
    /// - Parameter lastBeat: the last heartbeat before it; `nil` for the first incarnation.
    func incarnationBegan(
        after former: Incarnation, _ snapshot: LeaseSnapshot, lastBeat: Timestamp?, at now: Instant
    ) {
        if lastBeat != nil {
            weakerStates.incarnationBegan(after: former, snapshot, clock: loop.redis.clock, at: now)
            if let start = weakerStates.start { loop.remind(.weakerStates, at: start) }
        }
        (blocked, needsSweep) = ([], false)
        for session in table.all {
            session.stateWaitsNoLonger()
            session.recorder?.asserted(lastBeat: lastBeat)
            advance(session, at: now)
        }
    }

    /// Handles a heartbeat that renewed the lease: tries again what failed.
    ///
    /// - Parameter resumesWrites: whether heartbeats had failed. No session was written then, even if none of its steps
    ///   failed.
    func heartbeatCame(resumesWrites: Bool, at now: Instant) {
        let blocked = blocked.sorted { $0.number < $1.number }
        self.blocked = []
        for session in resumesWrites ? table.all : blocked {
            session.recorder?.retry()
            // The device may be back at another worker, which can write it only now. A removal therefore waits for the
            // next heartbeat.
            if resumesWrites, session.phase == .ending {
                self.blocked.insert(session)
            } else {
                advance(session, at: now)
            }
        }
    }

    /// Has a new incarnation begin if this one has to be swept.
    func sweepIfNeeded() {
        guard needsSweep else { return }
        needsSweep = false
        loop.host.assertAnew(.sessionsDropped)
    }

    /// Writes the weaker states under the latest incarnation, and the removals slightly later.
    func writeWeakerStates(at now: Instant) {
        guard let start = weakerStates.start else { return }
        guard now >= start else { return loop.remind(.weakerStates, at: start) }
        for state in [.active, .idle, .background] as [DeviceState] { advanceAll(in: state, at: now) }
        let removals = start + WeakerStates.removals
        guard now >= removals else { return loop.remind(.weakerStates, at: removals) }
        advanceAll(in: nil, at: now)
        weakerStates.areWritten()
    }

    private func advanceAll(in state: DeviceState?, at now: Instant) {
        for session in table.all where session.recorder?.state == state { advance(session, at: now) }
    }

    // MARK: The end of a session

    /// Removes a session that has no connection and nothing left to write.
    func forget(_ session: Session) {
        table.remove(session)
        hereRecords.forget(session)
        if let user = session.user { persons.forget(user) }
        blocked.remove(session)
        loop.forget(.session(session))
    }

    /// Drops a session that lingers although it still has something to write. Its device may stay in Redis. A sweep
    /// removes it: the worker starts a new incarnation, and the lease of this one expires. A session that leaves
    /// nothing but its entry on the worker's list is unlisted.
    func drop(_ session: Session, at now: Instant) {
        guard let recorder = session.recorder else { return }
        hereRecords.gone(session, at: now)
        if recorder.mayLeaveDevice {
            needsSweep = true
        } else if let list = recorder.listToLeave {
            unlist(recorder.name, of: session, under: list)
        }
        loop.tally.lingeringDropped += 1
        forget(session)
    }

    // MARK: Steps

    /// Handles the reply to a session's listing; false if it came too late and had no effect.
    func listed(
        _ reply: Result<Bool, StoreFailure>, _ name: SessionName, _ session: Session, under incarnation: Incarnation,
        at now: Instant
    ) {
        switch reply {
        // Here and below: the session may have been dropped before the reply, to limit the number that linger.
        case .success(true) where session.isOver: break
        case .success(true):
            session.recorder?.listed(under: incarnation)
            advance(session, at: now)
        case .success(false):
            stepFailed(.list(name, under: incarnation), .withoutEffect, for: session, at: now)
        case .failure(let failure):
            stepFailed(.list(name, under: incarnation), failure, for: session, at: now)
        }
    }

    private func unlist(_ name: SessionName, of session: Session, under incarnation: Incarnation) {
        loop.store.unlist(.session(name), of: incarnation) { [self] reply in
            loop.after { now in
                switch reply {
                case .success: unlisted(session, under: incarnation, at: now)
                case .failure(let failure):
                    stepFailed(.unlist(name, under: incarnation), failure, for: session, at: now)
                }
            }
        }
    }

    func unlisted(_ session: Session, under incarnation: Incarnation, at now: Instant) {
        guard !session.isOver else { return }
        session.recorder?.unlisted(under: incarnation)
        advance(session, at: now)
    }

    private func written(
        _ written: DeviceWritten, of write: DeviceWrite, for session: Session, at now: Instant
    ) {
        var written = written
        // Redis's clock was set forward since the last heartbeat, by more than rounding and drift explain. So the write
        // dated the session too early. The next heartbeat corrects that, and the session is written again.
        if written.outcome == .replaced, write.began == nil,
            written.time > loop.redis.time(at: now).advanced(by: .milliseconds(2))
        {
            written.outcome = .expired
        }
        if let previous = written.previous, written.outcome == .written {
            loop.store.announce(
                .replaced(user: write.name.user, device: write.name.device, session: previous.session),
                to: previous.incarnation)
            if !session.isOver, let random = previous.session.cut(at: "-")?.after {
                hereRecords.replaced(SessionID(random: random), by: session)
            }
        }
        guard !session.isOver else { return }
        if written.outcome != .expired { session.knowsPerson = true }
        persons.named(written.person, of: write.name.user, at: now)
        let verdict = session.recorder?.written(written, sequence: write.sequence)
        if written.outcome == .expired { blocked.insert(session) }
        switch verdict {
        case .replaced: fate?.end(session, .replaced, at: now)
        case .revoked: tokenRevoked(session, ago: written.revokedAgo, at: now)
        // What the client says next may depend on what the user has decided.
        case .goOn where written.outcome != .expired && !persons.isUnknown(write.name.user):
            fate?.proven(session, at: now)
        case .goOn, nil: break
        }
        advance(session, at: now)
        hereRecords.confirmed(session, at: now)
    }

    /// Ends a session whose token was revoked. A new one may show a fresh token: the app may have it by now, and whoever has
    /// just revoked the others had reason to ask for one.
    private func tokenRevoked(_ session: Session, ago: Duration?, at now: Instant) {
        let isFresh = session.isUnproven && ago.map { $0 < ShardSettings.freshRevocation } ?? false
        fate?.end(session, .revoked(isFresh: isFresh), at: now)
    }

    /// Handles a failed step. The next heartbeat or incarnation retries it. If Redis can hold nothing of the session,
    /// the session is dropped once its device is gone.
    private func stepFailed(
        _ step: DeviceRecorder.Step, _ failure: StoreFailure = .unknown, for session: Session, at now: Instant
    ) {
        guard !session.isOver else {
            // A dropped session has no retry: its entry goes with the list of the incarnation.
            if case .unlist(_, let list) = step, list == Incarnation(name: loop.redis.workerName) {
                needsSweep = true
            }
            return
        }
        session.recorder?.failed(step, failure)
        blocked.insert(session)
        proveByRead(session, at: now)
        advance(session, at: now)
    }

    /// Starts the next step of a session's record, acknowledges written decisions, and removes a finished session.
    func advance(_ session: Session, at now: Instant) {
        guard !session.isOver, let recorder = session.recorder else { return }
        acknowledgeWritten(session)
        guard session.phase != .open || !session.isStateDeferred else { return }
        if session.phase == .ending, recorder.isFinished {
            forget(session)
            return
        }
        guard let incarnation = loop.redis.incarnation else { return }
        let until = loop.redis.until
        if recorder.owesRemoval, recorder.state == nil, isBack(recorder.name) {
            // The next heartbeat tries again. By then the newer session is written and has taken the device over.
            blocked.insert(session)
            return
        }
        let time = loop.redis.time(at: now)
        let isDeferred = weakerStates.areDeferred(of: session, at: now)
        let step = session.recorder?.nextStep(
            under: incarnation, until: until, time: time, at: now, isDeferred: isDeferred)
        switch step {
        case .list(let name, let incarnation):
            loop.list(name, of: session, under: incarnation)
        case .write(var write):
            write.reset = loop.redis.eventReset
            write.isAfterOutage = loop.redis.judgement.isSettling
            write.person = persons.revision(of: write.name.user)
            loop.store.write(write) { [self, write] reply in
                loop.after { now in
                    switch reply {
                    case .success(let written): self.written(written, of: write, for: session, at: now)
                    case .failure(let failure): stepFailed(.write(write), failure, for: session, at: now)
                    }
                }
            }
        case .unlist(let name, let incarnation):
            unlist(name, of: session, under: incarnation)
        case nil: break
        }
    }

    /// Whether a newer session of the same device exists here and is not written yet.
    private func isBack(_ name: SessionName) -> Bool {
        let all = table.of(name.user)
        guard all.count > 1 else { return false }
        return all.contains { session in
            guard let other = session.recorder else { return false }
            return other.name.device == name.device && other.name.session != name.session && other.awaitsFirstWrite
        }
    }

    func stateChanged(_ session: Session, to state: DeviceState, id: MessageID?, at now: Instant) {
        let before = session.recorder?.sequence
        guard let sequence = session.recorder?.decided(state: state) else { return }
        decided(sequence, after: before, session, at: now)
        if let id { acknowledge(id, onceWritten: sequence, to: session) }
        advance(session, at: now)
        hereRecords.changed(session, at: now)
    }

    /// A fresh token says something else of the user.
    func profileChanged(to profile: Profile, of session: Session, at now: Instant) {
        let before = session.recorder?.sequence
        guard let sequence = session.recorder?.decided(profile: profile) else { return }
        decided(sequence, after: before, session, at: now)
        advance(session, at: now)
        hereRecords.changed(session, at: now)
    }

    /// A decision that others see is written at its pace.
    private func decided(_ sequence: Int64, after before: Int64?, _ session: Session, at now: Instant) {
        if sequence != before, let next = session.stateChanged(every: loop.settings.presenceCoalesce, at: now) {
            loop.remind(.state(session), at: next)
        }
    }

    /// Writes a deferred change of a device's state.
    func stateDue(_ session: Session, at now: Instant) {
        guard session.isStateDeferred else { return }
        session.stateWritten(every: loop.settings.presenceCoalesce, at: now)
        advance(session, at: now)
    }

    /// Acknowledges a message once the session's decision is in Redis.
    func acknowledge(_ id: MessageID, onceWritten sequence: Int64, to session: Session) {
        let (superseded, isRefused) = session.acknowledges(
            id, onceWritten: sequence, most: loop.settings.bounds.waitingMessages, atAll: outbound.mostWaiting)
        if let superseded { outbound.acknowledge(superseded, to: session) }
        if isRefused { outbound.answerUnavailable(session, id: id) }
    }

    private func acknowledgeWritten(_ session: Session) {
        for id in session.takeWritten() { outbound.acknowledge(id, to: session) }
    }

    // MARK: The audit

    /// Handles the records of the sessions that were read.
    func audited(
        _ sessions: [AuditedSession], _ found: [DeviceStanding], of incarnation: Incarnation, at now: Instant
    ) {
        var current: [(session: Session, user: UserID, agrees: Bool, found: DeviceStanding)] = []
        for (audited, found) in zip(sessions, found) {
            guard !audited.session.isOver, let recorder = audited.session.recorder else { continue }
            guard !recorder.isRevoked(by: found.revoked) else {
                tokenRevoked(audited.session, ago: found.revoked.map(loop.redis.time(at: now).since), at: now)
                continue
            }
            audited.session.knowsPerson = true
            persons.audited(found.person, of: recorder.name.user, at: now)
            if !persons.isUnknown(recorder.name.user) { fate?.proven(audited.session, at: now) }
            guard recorder.sequence == audited.sequence, recorder.isSettled(under: incarnation) else { continue }
            let agrees = recorder.agrees(with: found, under: incarnation)
            current.append((audited.session, recorder.name.user, agrees, found))
        }
        // Writing sessions again one by one could write a tablet in the background before the same user's active phone.
        if Audit.hasForgotten(current.map { ($0.user, $0.found) }) { return loop.host.assertAnew(.forgotten) }
        var mended = 0
        for (session, _, agrees, found) in current where !agrees {
            // A newer session of the device is no damage: its message to this one is on the way, or was lost.
            let isReplaced = found.record.map { $0.session != session.recorder?.name.session } ?? false
            if !isReplaced { mended += 1 }
            // One that was dismissed above may have had this one dropped, to limit the number that linger.
            session.recorder?.drifted()
            advance(session, at: now)
        }
        loop.tally.auditMended += mended
        if mended > 0 { loop.host.mended(mended) }
    }

    /// Handles a failed read. The audit comes round again; a session that waited for it does not wait any longer.
    private func auditFailed(_ sessions: [AuditedSession], at now: Instant) {
        for audited in sessions { fate?.proven(audited.session, at: now) }
    }

    /// Requests the records of the next few sessions.
    func continueAudit(at now: Instant) {
        guard let incarnation = loop.redis.incarnation else { return }
        var batch: [AuditedSession] = []
        let least = loop.settings.isSpread ? ShardSettings.spreadAudit : 0
        let due = audit.due(of: table.count, atLeast: least, loop.settings.bounds, at: now)
        loop.tally.auditRead += due
        for _ in 0..<due {
            guard let (session, isNewRound) = audit.next(of: table) else { break }
            if isNewRound {
                loop.tally.auditRounds += 1
                hereRecords.auditList(of: incarnation)
            }
            guard let recorder = session.recorder, recorder.isSettled(under: incarnation) else { continue }
            batch.append(AuditedSession(session: session, name: recorder.name, sequence: recorder.sequence))
        }
        if !batch.isEmpty { read(batch, under: incarnation) }
        hereRecords.audit(batch.map(\.session), of: incarnation)
    }

    private func read(_ sessions: [AuditedSession], under incarnation: Incarnation) {
        loop.store.audit(sessions.map(\.name), of: incarnation) { [self] reply in
            loop.after { now in
                switch reply {
                case .success(let found): audited(sessions, found, of: incarnation, at: now)
                case .failure: auditFailed(sessions, at: now)
                }
            }
        }
    }

    /// Processes the messages of a session whose first write cannot tell whether its token was revoked, and what its user has
    /// decided. While Redis answers reads, a read tells; while Redis is away, nothing does, and the first write will.
    func proveByRead(_ session: Session, at now: Instant) {
        guard session.isUnproven && session.phase == .open else { return }
        guard loop.redis.answersReads, let recorder = session.recorder else {
            fate?.proven(session, at: now)
            return
        }
        let session = AuditedSession(session: session, name: recorder.name, sequence: recorder.sequence)
        read([session], under: Incarnation(name: loop.redis.workerName))
    }
}
