// How Redis comes to hold what sessions decide: each session's record is listed, written and unlisted, one step at a
// time.

package import RollcallModel

extension Shard {
    package func listed(_ key: SessionKey, under incarnation: Incarnation, at now: Instant) -> [ShardAction] {
        // Here and below: the session may have been dropped before the reply, to limit the number that linger.
        sessions.changeIfPresent(key) { $0.recorder?.listed(under: incarnation) }
        advance(key, at: now)
        return take()
    }

    package func unlisted(_ key: SessionKey, under incarnation: Incarnation, at now: Instant) -> [ShardAction] {
        sessions.changeIfPresent(key) { $0.recorder?.unlisted(under: incarnation) }
        advance(key, at: now)
        return take()
    }

    package func written(
        _ written: DeviceWritten, of write: DeviceWrite, for key: SessionKey, at now: Instant
    ) -> [ShardAction] {
        var written = written
        // Redis's clock was set forward since the last heartbeat, by more than rounding and drift explain. So the write
        // dated the session too early. The next heartbeat corrects that, and the session is written again.
        if written.outcome == .replaced, write.began == nil,
            written.time > redis.time(at: now).advanced(by: .milliseconds(2))
        {
            written.outcome = .expired
        }
        if let previous = written.previous, written.outcome == .written {
            actions.append(.store(.announceReplaced(write.name, previous: previous)))
        }
        let verdict = sessions.changeIfPresent(key) { $0.recorder?.written(written, sequence: write.sequence) } ?? nil
        if written.outcome == .expired, sessions[key] != nil { repairs.retryLater(key) }
        switch verdict {
        case .replaced: dropReplaced(key, at: now)
        case .revoked: dismiss(key, .badToken, at: now)
        case .goOn where written.outcome != .expired: listen(to: key, at: now)
        case .goOn, nil: break
        }
        advance(key, at: now)
        return take()
    }

    /// Handles a failed step. The next heartbeat or incarnation retries it. If Redis can hold nothing of the session,
    /// the session is dropped once its device is gone.
    package func stepFailed(
        _ step: DeviceRecorder.Step, _ failure: StoreFailure = .unknown, for key: SessionKey, at now: Instant
    ) -> [ShardAction] {
        guard sessions[key] != nil else {
            // A dropped session has no retry: its entry goes with the list of the incarnation.
            if case .unlist(_, let list) = step, list == Incarnation(name: redis.workerName) {
                repairs.leftDevice()
            }
            return take()
        }
        sessions.change(key) { $0.recorder?.failed(step, failure) }
        repairs.retryLater(key)
        listenUnlessRevoked(key, at: now)
        advance(key, at: now)
        return take()
    }

    /// Starts the next step of a session's record, acknowledges written decisions, and removes a finished session.
    func advance(_ key: SessionKey, at now: Instant) {
        guard let recorder = sessions[key]?.recorder else { return }
        acknowledgeWritten(key)
        guard sessions.read(key, { $0.phase == .open && $0.isStateDeferred }) != true else { return }
        if sessions[key]?.phase == .ending, recorder.isFinished {
            forget(key)
            return
        }
        guard let (incarnation, until) = redis.held else { return }
        if recorder.owesRemoval, recorder.state == nil, isBack(recorder.name) {
            // The next heartbeat tries again. By then the newer session is written and has taken the device over.
            repairs.retryLater(key)
            return
        }
        let time = redis.time(at: now)
        let isDeferred = isDeferred(key, at: now)
        let step = sessions.change(key) {
            $0.recorder?.nextStep(under: incarnation, until: until, time: time, at: now, isDeferred: isDeferred)
        }
        switch step ?? nil {
        case .list(let name, let incarnation):
            let session = StoreRequest.List.Session(name: name, key: key)
            actions.append(.store(.list(.init(sessions: [session], incarnation: incarnation, until: until))))
        case .write(var write):
            write.reset = redis.eventReset
            actions.append(.store(.write(.init(write: write, key: key))))
        case .unlist(let name, let incarnation):
            actions.append(.store(.unlist(.init(name: name, incarnation: incarnation, key: key))))
        case nil: break
        }
    }

    /// Whether a newer session of the same device exists here and is not written yet.
    private func isBack(_ name: SessionName) -> Bool {
        let all = sessions.keys(of: name.user)
        guard all.count > 1 else { return false }
        return all.contains { key in
            sessions.read(key) { session in
                guard let other = session.recorder else { return false }
                return other.name.device == name.device && other.name.session != name.session && other.awaitsFirstWrite
            } == true
        }
    }

    func stateChanged(_ key: SessionKey, to state: DeviceState, id: MessageID?, at now: Instant) {
        if state == .background { stopTypingEverywhere(key, at: now) }
        let before = sessions.read(key) { $0.recorder?.sequence } ?? nil
        guard let sequence = sessions.change(key, { $0.recorder?.decided(state: state) }) ?? nil else { return }
        if sequence != before { paceState(key, at: now) }
        if let id { acknowledge(id, onceWritten: sequence, to: key) }
        advance(key, at: now)
    }

    /// Paces writes of a device's state: the first four changes after a quiet time are written at once, later ones at
    /// most once per ``ShardSettings/presenceCoalesce``, with the newest state. The device's end is never delayed.
    private func paceState(_ key: SessionKey, at now: Instant) {
        guard let next = sessions.read(key, { $0.statePace.next(every: settings.presenceCoalesce) }) else { return }
        if now >= next {
            stateWritten(key, at: now)
        } else {
            sessions.change(key) { $0.isStateDeferred = true }
            timers.remind(.state(key), at: next)
        }
    }

    /// Writes a deferred change of a device's state.
    func stateDue(_ key: SessionKey, at now: Instant) {
        guard sessions.read(key, { $0.isStateDeferred }) == true else { return }
        stateWritten(key, at: now)
        advance(key, at: now)
    }

    private func stateWritten(_ key: SessionKey, at now: Instant) {
        let interval = settings.presenceCoalesce
        sessions.change(key) {
            $0.isStateDeferred = false
            $0.statePace.passed(at: now, every: interval)
        }
    }

    /// Acknowledges a `state` once its decision is in Redis. If many acknowledgements wait, those of superseded
    /// decisions are sent at once, because these decisions can no longer have an effect.
    private func acknowledge(_ id: MessageID, onceWritten sequence: Int64, to key: SessionKey) {
        sessions.change(key) { $0.acks.append((sequence, id)) }
        guard let acks = sessions.read(key, { $0.acks }), acks.count > settings.bounds.waitingMessages else { return }
        if acks[0].sequence < sequence {
            sessions.change(key) { _ = $0.acks.removeFirst() }
            acknowledge(acks[0].id, to: key)
        } else if acks.count > mostWaiting {
            sessions.change(key) { _ = $0.acks.removeLast() }
            answerUnavailable(key, id: id)
        }
    }

    private func acknowledgeWritten(_ key: SessionKey) {
        for id in sessions.change(key, { $0.takeWritten() }) ?? [] { acknowledge(id, to: key) }
    }
}
