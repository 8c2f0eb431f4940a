// Sessions: from the connection and the hello to the last write for the device.

public import RollcallModel

extension Shard {
    /// Handles a new connection.
    public mutating func connected(at now: Instant) -> SessionKey {
        let key = sessions.insert(Session(now: now, settings: settings))
        leaveWithDrain(key, at: now)
        remindOfEnd(key)
        return key
    }

    /// Handles a token that was verified for this user and device.
    ///
    /// - Parameters:
    ///   - lifetime: how long the token is valid; the session ends with it. `nil` for no limit.
    ///   - issued: when the token was issued, which decides whether a revocation applies; `nil` if none can apply.
    public mutating func authenticated(
        _ key: SessionKey, user: UserID, device: DeviceID, lifetime: Duration? = nil, issued: Timestamp? = nil,
        id: MessageID?, at now: Instant
    ) -> [ShardAction] {
        guard let session = sessions[key] else { return [] }
        switch session.phase {
        case .authenticating(let hello, let id):
            tokenLasts(lifetime, for: key, at: now)
            let name = SessionName(user: user, device: device, session: SessionID(using: &random))
            let recorder = DeviceRecorder(name: name, opened: session.connected, issued: issued)
            welcome(key, recorder, hello: hello, id: id, at: now)
        case .open where session.recorder?.name.user == user && session.recorder?.name.device == device:
            // An older token does not shorten the lifetime, and must not extend it if it is revoked.
            if session.recorder?.isOlder(issued) != true { tokenLasts(lifetime, for: key, at: now) }
            sessions[key]?.recorder?.refreshed(issued: issued)
            acknowledge(id, to: key)
        case .open:
            close(key, .badToken, at: now)
        case .greeting, .inGrace, .ending:
            break
        }
        return take()
    }

    private mutating func tokenLasts(_ lifetime: Duration?, for key: SessionKey, at now: Instant) {
        sessions[key]?.tokenExpires = lifetime.map { now + $0 }
        if let lifetime { timers.remind(.session(key), at: now + lifetime) }
    }

    /// Refuses a session: its token is not valid, or there is no room for it.
    ///
    /// - Parameter pause: the reconnect delay sent with close code `busy`; `nil` for the default.
    public mutating func refused(
        _ key: SessionKey, _ code: CloseCode, after pause: Duration? = nil, at now: Instant
    ) -> [ShardAction] {
        guard sessions[key]?.isConnected == true else { return [] }
        if let goodbye = Self.goodbye(before: code, after: pause ?? ShardSettings.busyPause) {
            actions.append(.send(.goodbye(goodbye), to: [key]))
        }
        close(key, code, at: now)
        return take()
    }

    /// Handles a token that cannot be verified now, or is not valid yet. A session without a welcome is asked to
    /// reconnect later; an open session continues with its previous token.
    ///
    /// - Parameter pause: the reconnect delay; `nil` for the default.
    public mutating func tokenUnchecked(
        _ key: SessionKey, id: MessageID?, after pause: Duration? = nil, at now: Instant
    ) -> [ShardAction] {
        guard case .open = sessions[key]?.phase else { return refused(key, .busy, after: pause, at: now) }
        answer(key, .unavailable, id: id, "The token cannot be taken now; send it again in a moment")
        return take()
    }

    private static func goodbye(before code: CloseCode, after pause: Duration) -> ServerMessage.Goodbye? {
        switch code {
        case .tokenExpired: .init(reason: .expired, reconnect: true)
        case .tooManySessions: .init(reason: .limit, reconnect: false)
        case .busy: .init(reason: .busy, reconnect: true, after: pause.milliseconds)
        default: nil
        }
    }

    /// Handles the end of a connection for any reason but a goodbye.
    ///
    /// - Parameter silence: the time since the last received byte, which is when the device was last known to be
    ///   present.
    public mutating func disconnected(_ key: SessionKey, silence: Duration, at now: Instant) -> [ShardAction] {
        guard sessions[key]?.isConnected == true else { return [] }
        connectionEnded(key, lost: redisTime(at: now).advanced(by: .zero - silence), at: now)
        return take()
    }

    /// Handles that another session holds the device now, on another worker or on this one.
    package mutating func replaced(_ name: SessionName, at now: Instant) -> [ShardAction] {
        guard let key = sessionKeys[name.session], sessions[key]?.recorder?.name == name else { return [] }
        sessions[key]?.recorder?.abandoned()
        dropReplaced(key, at: now)
        return take()
    }

    /// Ends a session at an operator's request.
    package mutating func sentAway(_ name: SessionName, at now: Instant) -> [ShardAction] {
        guard let key = sessionKeys[name.session], sessions[key]?.recorder?.name == name else { return [] }
        dismiss(key, .sentAway, at: now)
        return take()
    }

    package mutating func listed(_ key: SessionKey, under incarnation: Incarnation, at now: Instant) -> [ShardAction] {
        sessions[key]?.recorder?.listed(under: incarnation)
        advance(key, at: now)
        return take()
    }

    package mutating func unlisted(_ key: SessionKey, under incarnation: Incarnation, at now: Instant) -> [ShardAction]
    {
        sessions[key]?.recorder?.unlisted(under: incarnation)
        advance(key, at: now)
        return take()
    }

    package mutating func written(
        _ written: DeviceWritten, of write: DeviceWrite, for key: SessionKey, at now: Instant
    ) -> [ShardAction] {
        if let previous = written.previous, written.outcome == .written {
            actions.append(.store(.announceReplaced(write.name, previous: previous)))
        }
        let verdict = sessions[key]?.recorder?.written(written, sequence: write.sequence)
        if written.outcome == .expired, sessions[key] != nil { blocked.insert(key) }
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
    package mutating func stepFailed(
        _ step: DeviceRecorder.Step, _ failure: StoreFailure = .unknown, for key: SessionKey, at now: Instant
    ) -> [ShardAction] {
        guard sessions[key] != nil else {
            // A dropped session has no retry: its entry goes with the list of the incarnation.
            if case .unlist(_, let list) = step, list.name == workerName { leavesDevicesToSweep = true }
            return take()
        }
        sessions[key]?.recorder?.failed(step, failure)
        blocked.insert(key)
        listen(to: key, at: now)
        advance(key, at: now)
        return take()
    }

    /// Starts the next step of a session's record, acknowledges written decisions, and removes a finished session.
    mutating func advance(_ key: SessionKey, at now: Instant) {
        guard let recorder = sessions[key]?.recorder else { return }
        acknowledgeWritten(key)
        guard sessions.read(key, { $0.phase == .open && $0.isStateDeferred }) != true else { return }
        if sessions[key]?.phase == .ending, recorder.isFinished {
            forget(key, recorder.name)
            return
        }
        guard case .takesWrites(let incarnation, let until) = redis else { return }
        if recorder.owesRemoval, recorder.state == nil, isBack(recorder.name) {
            // The next heartbeat tries again. By then the newer session is written and has taken the device over.
            blocked.insert(key)
            return
        }
        let time = redisTime(at: now)
        switch sessions[key]?.recorder?.nextStep(under: incarnation, until: until, time: time, at: now) {
        case .list(let name, let incarnation):
            let session = StoreRequest.List.Session(name: name, key: key)
            actions.append(.store(.list(.init(sessions: [session], incarnation: incarnation, until: until))))
        case .write(let write): actions.append(.store(.write(.init(write: write, key: key))))
        case .unlist(let name, let incarnation):
            actions.append(.store(.unlist(.init(name: name, incarnation: incarnation, key: key))))
        case nil: break
        }
    }

    /// Whether a newer session of the same device exists here and is not written yet.
    private func isBack(_ name: SessionName) -> Bool {
        guard let all = sessionsOfUser[name.user], all.count > 1 else { return false }
        return all.contains { key in
            sessions.read(key) { session in
                guard let other = session.recorder else { return false }
                return other.name.device == name.device && other.name.session != name.session && other.awaitsFirstWrite
            } == true
        }
    }

    /// Handles a session's deadline: a late hello, the end of its grace period, its token's expiry, or its moment to
    /// leave a draining worker.
    mutating func sessionDue(_ key: SessionKey, at now: Instant) {
        guard let session = sessions[key] else { return }
        switch session.phase {
        case .greeting, .authenticating, .open:
            connectionDue(key, session, at: now)
        case .inGrace(let until):
            guard now >= until else {
                timers.remind(.session(key), at: until)
                return
            }
            deviceGone(key, at: now)
        case .ending:
            break
        }
    }

    private mutating func connectionDue(_ key: SessionKey, _ session: Session, at now: Instant) {
        if let expires = session.tokenExpires, now >= expires {
            actions.append(.send(.goodbye(.init(reason: .expired, reconnect: true)), to: [key]))
            close(key, .tokenExpired, at: now)
        } else if let leaves = session.leaves, now >= leaves {
            sendElsewhere(key, at: now)
        } else if session.phase != .open, now >= session.connected + settings.hello {
            actions.append(.limitHit(.hello, key))
            actions.append(.send(.goodbye(.init(reason: .late, reconnect: true)), to: [key]))
            close(key, .late, at: now)
        } else {
            remindOfEnd(key)
        }
    }

    mutating func remindOfEnd(_ key: SessionKey) {
        guard let session = sessions[key] else { return }
        let hello = session.phase == .open ? nil : session.connected + settings.hello
        if let next = [hello, session.leaves, session.tokenExpires].compactMap({ $0 }).min() {
            timers.remind(.session(key), at: next)
        }
    }

    /// Closes the connection. As after any loss, the device keeps its presence for the grace period.
    mutating func close(_ key: SessionKey, _ code: CloseCode, at now: Instant) {
        actions.append(.close(key, code))
        connectionEnded(key, lost: redisTime(at: now), at: now)
    }

    /// Handles a goodbye: the device is gone at once.
    mutating func goodbye(_ key: SessionKey, id: MessageID?, at now: Instant) {
        acknowledge(id, to: key)
        actions.append(.close(key, .normal))
        leaveEverything(key, at: now)
        deviceGone(key, at: now)
    }

    private mutating func deviceGone(_ key: SessionKey, at now: Instant) {
        let time = redisTime(at: now)
        sessions[key]?.recorder?.removed(at: time)
        sessions[key]?.phase = .ending
        advance(key, at: now)
    }

    mutating func stateChanged(_ key: SessionKey, to state: DeviceState, id: MessageID?, at now: Instant) {
        if state == .background { stopTypingEverywhere(key, at: now) }
        let before = sessions.read(key) { $0.recorder?.sequence } ?? nil
        guard let sequence = sessions[key]?.recorder?.decided(state: state) else { return }
        if sequence != before { paceState(key, at: now) }
        if let id { acknowledge(id, onceWritten: sequence, to: key) }
        advance(key, at: now)
    }

    /// Paces writes of a device's state: the first change after a quiet time is written at once, later ones at most
    /// once per ``ShardSettings/presenceCoalesce``, with the newest state. The device's end is never delayed.
    private mutating func paceState(_ key: SessionKey, at now: Instant) {
        guard let next = sessions.read(key, { $0.nextState }) else { return }
        if now >= next {
            stateWritten(key, at: now)
        } else {
            sessions[key]?.isStateDeferred = true
            timers.remind(.state(key), at: next)
        }
    }

    /// Writes a deferred change of a device's state.
    mutating func stateDue(_ key: SessionKey, at now: Instant) {
        guard sessions.read(key, { $0.isStateDeferred }) == true else { return }
        stateWritten(key, at: now)
        advance(key, at: now)
    }

    private mutating func stateWritten(_ key: SessionKey, at now: Instant) {
        let next = now + settings.presenceCoalesce
        sessions[key]?.isStateDeferred = false
        sessions[key]?.nextState = next
    }

    /// Acknowledges a `state` once its decision is in Redis. If many acknowledgements wait, those of superseded
    /// decisions are sent at once, because these decisions can no longer have an effect.
    private mutating func acknowledge(_ id: MessageID, onceWritten sequence: Int64, to key: SessionKey) {
        sessions[key]?.acks.append((sequence, id))
        guard let acks = sessions.read(key, { $0.acks }), acks.count > settings.bounds.waitingMessages else { return }
        if acks[0].sequence < sequence {
            sessions[key]?.acks.removeFirst()
            acknowledge(acks[0].id, to: key)
        } else if acks.count > mostWaiting {
            sessions[key]?.acks.removeLast()
            answerUnavailable(key, id: id)
        }
    }

    private mutating func connectionEnded(_ key: SessionKey, lost: Timestamp, at now: Instant) {
        guard let session = sessions[key] else { return }
        guard session.phase == .open else {
            backlogs[key] = nil
            sessions.remove(key)
            timers.forget(.session(key))
            return
        }
        let wasLeaving = session.held?.hasGoodbye == true
        leaveEverything(key, at: now)
        guard !wasLeaving else { return deviceGone(key, at: now) }
        let state = session.recorder?.state
        sessions[key]?.recorder?.decided(state: state, lost: lost)
        let graceEnd = now + settings.removal
        sessions[key]?.phase = .inGrace(until: graceEnd)
        timers.remind(.session(key), at: graceEnd)
        advance(key, at: now)
        if let user = session.user { limitDevicesInGrace(of: user, at: now) }
    }

    /// Ends the grace period of a user's oldest sessions if the user has too many devices in grace.
    private mutating func limitDevicesInGrace(of user: UserID, at now: Instant) {
        guard let all = sessionsOfUser[user], all.count > settings.bounds.devicesInGrace else { return }
        let inGrace = all.filter {
            sessions.read($0) { if case .inGrace = $0.phase { true } else { false } } == true
        }
        for key in inGrace.dropLast(settings.bounds.devicesInGrace) { deviceGone(key, at: now) }
    }

    /// Ends a session whose device now belongs to another session. The record is not changed.
    private mutating func dropReplaced(_ key: SessionKey, at now: Instant) {
        if sessions[key]?.isConnected == true {
            actions.append(.send(.goodbye(.init(reason: .replaced, reconnect: false)), to: [key]))
            actions.append(.close(key, .replaced))
            leaveEverything(key, at: now)
        }
        sessions[key]?.phase = .ending
        advance(key, at: now)
    }

    /// Ends a session without a grace period: its device should not reconnect before the cause is fixed.
    mutating func dismiss(_ key: SessionKey, _ code: CloseCode, at now: Instant) {
        guard sessions[key]?.phase != .ending else { return }
        if sessions[key]?.isConnected == true {
            if code == .sentAway {
                actions.append(.send(.goodbye(.init(reason: .sentAway, reconnect: false)), to: [key]))
            }
            actions.append(.close(key, code))
            leaveEverything(key, at: now)
        }
        deviceGone(key, at: now)
    }

    /// Ends everything that an open session took part in.
    private mutating func leaveEverything(_ key: SessionKey, at now: Instant) {
        lingering.append(key, open: openSessionCount)
        openSessionCount -= 1
        limitLingering()
        stopTypingEverywhere(key, at: now)
        for room in sessions[key]?.joined ?? [] { depart(key, from: room) }
        for room in sessions[key]?.joining ?? [] { depart(key, from: room) }
        for watch in sessions[key]?.watched.keys ?? [] {
            if let user = watches[watch]?.user { removeWatcher(key, of: user) }
        }
        sessions[key]?.joined = []
        sessions[key]?.senders = []
        sessions[key]?.joining = []
        sessions[key]?.watched = Roster()
        backlogs[key] = nil
        sessions[key]?.held = nil
        sessions[key]?.acks = []
        for reminder in [Reminder.held(key), .lookups(key), .state(key)] { timers.forget(reminder) }
    }

    /// Drops the sessions that have lingered longest if there are too many. Their devices may stay in Redis. A sweep
    /// removes those: the worker starts a new incarnation, and the lease of this one expires. A session that leaves
    /// nothing but its entry on the worker's list is unlisted.
    private mutating func limitLingering() {
        let limit = lingering.limit(settings.bounds)
        while lingeringSessionCount > limit,
            let oldest = lingering.popFirst(where: { sessions.read($0) { _ in true } ?? false }),
            let recorder = sessions[oldest]?.recorder
        {
            if recorder.mayLeaveDevice {
                leavesDevicesToSweep = true
            } else if let list = recorder.listToLeave {
                let unlist = StoreRequest.Unlist(name: recorder.name, incarnation: list, key: oldest)
                actions.append(.store(.unlist(unlist)))
            }
            tally.lingeringDropped += 1
            forget(oldest, recorder.name)
        }
        lingering.compact(count: lingeringSessionCount) { sessions.read($0) { _ in true } ?? false }
    }

    private mutating func forget(_ key: SessionKey, _ name: SessionName) {
        sessionKeys[name.session] = nil
        sessionsOfUser[name.user]?.removeAll { $0 == key }
        if sessionsOfUser[name.user]?.isEmpty == true { sessionsOfUser[name.user] = nil }
        sessions.remove(key)
        blocked.remove(key)
        timers.forget(.session(key))
    }

    private mutating func acknowledgeWritten(_ key: SessionKey) {
        for id in sessions[key]?.takeWritten() ?? [] { acknowledge(id, to: key) }
    }

    private mutating func welcome(
        _ key: SessionKey, _ recorder: DeviceRecorder, hello: ClientMessage.Hello, id: MessageID?, at now: Instant
    ) {
        var recorder = recorder
        let name = recorder.name
        let sequence = recorder.decided(state: hello.state)
        sessionKeys[name.session] = key
        sessionsOfUser[name.user, default: []].append(key)
        sessions[key]?.recorder = recorder
        sessions[key]?.phase = .open
        openSessionCount += 1
        if let id { sessions[key]?.acks.append((sequence, id)) }
        let welcome = ServerMessage.Welcome(
            user: name.user, device: name.device, session: name.session.random, worker: workerName,
            time: redisTime(at: now),
            ping: settings.ping.milliseconds,
            typing: .init(
                expiry: settings.typing.expiry.milliseconds, throttle: settings.typing.throttle.milliseconds),
            limits: settings.limits)
        actions.append(.send(.welcome(welcome), to: [key]))
        advance(key, at: now)
        // The reply to the first write reports a revocation. If nothing can be written now, messages are processed
        // without waiting for it.
        if recorder.needsNoToken || incarnation == nil { listen(to: key, at: now) }
    }
}
