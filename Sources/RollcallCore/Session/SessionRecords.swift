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
        case .revoked: end(session, .revoked, at: now)
        case .goOn where written.outcome != .expired: listen(to: session, at: now)
        case .goOn, nil: break
        }
        advance(session, at: now)
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
        if sequence != before { paceState(session, at: now) }
        if let id { acknowledge(id, onceWritten: sequence, to: session) }
        advance(session, at: now)
    }

    /// Paces writes of a device's state: the first four changes after a quiet time are written at once, later ones at
    /// most once per ``ShardSettings/presenceCoalesce``, with the newest state. The device's end is never delayed.
    private func paceState(_ session: Session, at now: Instant) {
        let next = session.statePace.next(every: settings.presenceCoalesce)
        if now >= next {
            stateWritten(session, at: now)
        } else {
            session.isStateDeferred = true
            timers.remind(.state(session), at: next)
        }
    }

    /// Writes a deferred change of a device's state.
    func stateDue(_ session: Session, at now: Instant) {
        guard session.isStateDeferred else { return }
        stateWritten(session, at: now)
        advance(session, at: now)
    }

    private func stateWritten(_ session: Session, at now: Instant) {
        let interval = settings.presenceCoalesce
        session.isStateDeferred = false
        session.statePace.passed(at: now, every: interval)
    }

    /// Acknowledges a `state` once its decision is in Redis. If many acknowledgements wait, those of superseded
    /// decisions are sent at once, because these decisions can no longer have an effect.
    private func acknowledge(_ id: MessageID, onceWritten sequence: Int64, to session: Session) {
        session.acks.append((sequence, id))
        let acks = session.acks
        guard acks.count > settings.bounds.waitingMessages else { return }
        if acks[0].sequence < sequence {
            _ = session.acks.removeFirst()
            acknowledge(acks[0].id, to: session)
        } else if acks.count > mostWaiting {
            _ = session.acks.removeLast()
            answerUnavailable(session, id: id)
        }
    }

    private func acknowledgeWritten(_ session: Session) {
        for id in session.takeWritten() { acknowledge(id, to: session) }
    }
}
