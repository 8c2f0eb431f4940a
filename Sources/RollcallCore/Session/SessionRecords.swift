// How Redis comes to hold what sessions decide: each session's record is listed, written and unlisted, one step at a
// time.

internal import RollcallProtocol

extension Shard {
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

    func unlist(_ name: SessionName, of session: Session, under incarnation: Incarnation) {
        store.unlist(name, of: incarnation) { [self] reply in
            after { shard, now in
                switch reply {
                case .success: shard.unlisted(session, under: incarnation, at: now)
                case .failure(let failure):
                    shard.stepFailed(.unlist(name, under: incarnation), failure, for: session, at: now)
                }
            }
        }
    }

    func unlisted(_ session: Session, under incarnation: Incarnation, at now: Instant) {
        guard !session.isOver else { return }
        session.recorder?.unlisted(under: incarnation)
        advance(session, at: now)
    }

    func written(
        _ written: DeviceWritten, of write: DeviceWrite, for session: Session, at now: Instant
    ) {
        var written = written
        // Redis's clock was set forward since the last heartbeat, by more than rounding and drift explain. So the write
        // dated the session too early. The next heartbeat corrects that, and the session is written again.
        if written.outcome == .replaced, write.began == nil,
            written.time > redis.time(at: now).advanced(by: .milliseconds(2))
        {
            written.outcome = .expired
        }
        if let previous = written.previous, written.outcome == .written {
            store.announceReplaced(previous, user: write.name.user, device: write.name.device)
        }
        guard !session.isOver else { return }
        let verdict = session.recorder?.written(written, sequence: write.sequence)
        if written.outcome == .expired { repairs.retryLater(session) }
        switch verdict {
        case .replaced: end(session, .replaced, at: now)
        case .revoked: tokenRevoked(session, ago: written.revokedAgo, at: now)
        case .goOn where written.outcome != .expired: listen(to: session, at: now)
        case .goOn, nil: break
        }
        advance(session, at: now)
    }

    /// Ends a session whose token was revoked. A new one may show a fresh token: the app may have it by now, and whoever has
    /// just revoked the others had reason to ask for one.
    func tokenRevoked(_ session: Session, ago: Duration?, at now: Instant) {
        let isFresh = session.isUnproven && ago.map { $0 < ShardSettings.freshRevocation } ?? false
        end(session, .revoked(isFresh: isFresh), at: now)
    }

    /// Handles a failed step. The next heartbeat or incarnation retries it. If Redis can hold nothing of the session,
    /// the session is dropped once its device is gone.
    func stepFailed(
        _ step: DeviceRecorder.Step, _ failure: StoreFailure = .unknown, for session: Session, at now: Instant
    ) {
        guard !session.isOver else {
            // A dropped session has no retry: its entry goes with the list of the incarnation.
            if case .unlist(_, let list) = step, list == Incarnation(name: redis.workerName) {
                repairs.leftDevice()
            }
            return
        }
        session.recorder?.failed(step, failure)
        repairs.retryLater(session)
        listenUnlessRevoked(session, at: now)
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
        guard let incarnation = redis.incarnation else { return }
        let until = redis.until
        if recorder.owesRemoval, recorder.state == nil, isBack(recorder.name) {
            // The next heartbeat tries again. By then the newer session is written and has taken the device over.
            repairs.retryLater(session)
            return
        }
        let time = redis.time(at: now)
        let isDeferred = isDeferred(session, at: now)
        let step = session.recorder?.nextStep(
            under: incarnation, until: until, time: time, at: now, isDeferred: isDeferred)
        switch step {
        case .list(let name, let incarnation):
            list(name, of: session, under: incarnation)
        case .write(var write):
            write.reset = redis.eventReset
            write.isAfterOutage = redis.judgement.isSettling
            store.write(write) { [self, write] reply in
                after { shard, now in
                    switch reply {
                    case .success(let written): shard.written(written, of: write, for: session, at: now)
                    case .failure(let failure): shard.stepFailed(.write(write), failure, for: session, at: now)
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
        let all = sessions.of(name.user)
        guard all.count > 1 else { return false }
        return all.contains { session in
            guard let other = session.recorder else { return false }
            return other.name.device == name.device && other.name.session != name.session && other.awaitsFirstWrite
        }
    }

    func stateChanged(_ session: Session, to state: DeviceState, id: MessageID?, at now: Instant) {
        if state == .background { stopTypingEverywhere(session, at: now) }
        let before = session.recorder?.sequence
        guard let sequence = session.recorder?.decided(state: state) else { return }
        decided(sequence, after: before, session, at: now)
        if let id { acknowledge(id, onceWritten: sequence, to: session) }
        advance(session, at: now)
    }

    /// A fresh token says something else of the user.
    func profileChanged(to profile: Profile, of session: Session, at now: Instant) {
        let before = session.recorder?.sequence
        guard let sequence = session.recorder?.decided(profile: profile) else { return }
        decided(sequence, after: before, session, at: now)
        advance(session, at: now)
    }

    /// A decision that others see is written at its pace.
    private func decided(_ sequence: Int64, after before: Int64?, _ session: Session, at now: Instant) {
        if sequence != before, let next = session.stateChanged(every: settings.presenceCoalesce, at: now) {
            timers.remind(.state(session), at: next)
        }
    }

    /// Writes a deferred change of a device's state.
    func stateDue(_ session: Session, at now: Instant) {
        guard session.isStateDeferred else { return }
        session.stateWritten(every: settings.presenceCoalesce, at: now)
        advance(session, at: now)
    }

    /// Acknowledges a message once the session's decision is in Redis.
    func acknowledge(_ id: MessageID, onceWritten sequence: Int64, to session: Session) {
        let (superseded, isRefused) = session.acknowledges(
            id, onceWritten: sequence, most: settings.bounds.waitingMessages, atAll: mostWaiting)
        if let superseded { acknowledge(superseded, to: session) }
        if isRefused { answerUnavailable(session, id: id) }
    }

    private func acknowledgeWritten(_ session: Session) {
        for id in session.takeWritten() { acknowledge(id, to: session) }
    }
}
