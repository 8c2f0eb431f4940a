// Sessions: from the connection over the hello to the last write about the device.

public import RollcallModel

extension Shard {
    /// A connection was opened.
    public mutating func connected(at now: Instant) -> SessionKey {
        let key = sessions.insert(Session(now: now, settings: settings))
        leaveWithDrain(key, at: now)
        remindOfEnd(key)
        return key
    }

    /// The token stands for this user and device.
    ///
    /// - Parameters:
    ///   - lifetime: how long the token is good; the session ends with it. `nil` is for ever.
    ///   - issued: when it was issued, by which a revocation tells whether it counts; `nil` if none reaches it.
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
            // An older token shortens nothing, and if it is revoked, prolongs nothing.
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

    /// The session cannot be: its token is not good, or there is no room for it.
    ///
    /// - Parameter pause: when a device that is told to come back later may do so; `nil` for the usual pause.
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

    /// The token cannot be judged now, or is not valid yet. A session without a welcome is told to come back; an open one
    /// goes on under its former token.
    ///
    /// - Parameter pause: when it is worth coming back; `nil` for the usual pause.
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

    /// The connection is gone, by whatever cause but a goodbye.
    ///
    /// - Parameter silence: how long ago its last byte came: that is when the device was last known to be there.
    public mutating func disconnected(_ key: SessionKey, silence: Duration, at now: Instant) -> [ShardAction] {
        guard sessions[key]?.isConnected == true else { return [] }
        connectionEnded(key, lost: redisTime(at: now).advanced(by: .zero - silence), at: now)
        return take()
    }

    /// Another worker, or another session here, holds the device now.
    public mutating func replaced(_ name: SessionName, at now: Instant) -> [ShardAction] {
        guard let key = sessionKeys[name.session], sessions[key]?.recorder?.name == name else { return [] }
        sessions[key]?.recorder?.abandoned()
        dropReplaced(key, at: now)
        return take()
    }

    /// An operator wants this session ended.
    public mutating func sentAway(_ name: SessionName, at now: Instant) -> [ShardAction] {
        guard let key = sessionKeys[name.session], sessions[key]?.recorder?.name == name else { return [] }
        dismiss(key, .sentAway, at: now)
        return take()
    }

    public mutating func listed(_ key: SessionKey, under incarnation: Incarnation, at now: Instant) -> [ShardAction] {
        sessions[key]?.recorder?.listed(under: incarnation)
        advance(key, at: now)
        return take()
    }

    public mutating func unlisted(_ key: SessionKey, under incarnation: Incarnation, at now: Instant) -> [ShardAction] {
        sessions[key]?.recorder?.unlisted(under: incarnation)
        advance(key, at: now)
        return take()
    }

    public mutating func written(
        _ written: DeviceWritten, of write: DeviceWrite, for key: SessionKey, at now: Instant
    ) -> [ShardAction] {
        if let previous = written.previous, written.outcome == .written {
            actions.append(.announceReplaced(write.name, previous: previous))
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

    /// Listing, writing or unlisting failed; the next heartbeat, or the next incarnation, tries again. A session of which
    /// nothing can be in Redis is forgotten once its device is gone.
    public mutating func stepFailed(
        _ step: DeviceRecorder.Step, _ failure: DeviceRecorder.Failure = .unknown, for key: SessionKey, at now: Instant
    ) -> [ShardAction] {
        guard sessions[key] != nil else { return take() }
        sessions[key]?.recorder?.failed(step, failure)
        blocked.insert(key)
        listen(to: key, at: now)
        advance(key, at: now)
        return take()
    }

    /// Takes the next step of a session's record, acknowledges what now stands, and forgets a session that is over.
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
            // The next heartbeat tries again: by then its newer session is written, and takes the device over.
            blocked.insert(key)
            return
        }
        let time = redisTime(at: now)
        switch sessions[key]?.recorder?.nextStep(under: incarnation, until: until, time: time, at: now) {
        case .list(let name, let incarnation):
            actions.append(.list(name, under: incarnation, until: until, for: key))
        case .write(let write): actions.append(.write(write, for: key))
        case .unlist(let name, let incarnation): actions.append(.unlist(name, under: incarnation, for: key))
        case nil: break
        }
    }

    /// Whether a newer session of the same device is here whose record is still to be written.
    private func isBack(_ name: SessionName) -> Bool {
        guard let all = sessionsOfUser[name.user], all.count > 1 else { return false }
        return all.contains { key in
            sessions.read(key) { session in
                guard let other = session.recorder else { return false }
                return other.name.device == name.device && other.name.session != name.session && other.awaitsFirstWrite
            } == true
        }
    }

    /// A session's moment has come: its hello is late, its grace is over, or it is to leave.
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

    /// Closes the connection; the device keeps its presence through the grace period, as after any loss.
    mutating func close(_ key: SessionKey, _ code: CloseCode, at now: Instant) {
        actions.append(.close(key, code))
        connectionEnded(key, lost: redisTime(at: now), at: now)
    }

    /// A clean end: the device is gone at once.
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

    /// The first change of a device's state after a quiet time is written at once, further ones at most once in
    /// ``ShardSettings/presenceCoalesce``: the newest, as it is then. The device's end never waits.
    private mutating func paceState(_ key: SessionKey, at now: Instant) {
        guard let next = sessions.read(key, { $0.nextState }) else { return }
        if now >= next {
            stateWritten(key, at: now)
        } else {
            sessions[key]?.isStateDeferred = true
            timers.remind(.state(key), at: next)
        }
    }

    /// A change of a device's state that waited may be written.
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

    /// Acknowledges a `state` when the decision stands in Redis. Where very many wait, those that a later one has
    /// superseded can have no effect any more, and are acknowledged at once.
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

    /// Ends the grace of the devices that have the oldest sessions where a user has very many of them.
    private mutating func limitDevicesInGrace(of user: UserID, at now: Instant) {
        guard let all = sessionsOfUser[user], all.count > settings.bounds.devicesInGrace else { return }
        let inGrace = all.filter {
            sessions.read($0) { if case .inGrace = $0.phase { true } else { false } } == true
        }
        for key in inGrace.dropLast(settings.bounds.devicesInGrace) { deviceGone(key, at: now) }
    }

    /// Ends a session whose device is another's by now; its record is not touched.
    private mutating func dropReplaced(_ key: SessionKey, at now: Instant) {
        if sessions[key]?.isConnected == true {
            actions.append(.send(.goodbye(.init(reason: .replaced, reconnect: false)), to: [key]))
            actions.append(.close(key, .replaced))
            leaveEverything(key, at: now)
        }
        sessions[key]?.phase = .ending
        advance(key, at: now)
    }

    /// Ends a session, grace and all: its device is not to come back before something was mended.
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

    /// A session that was open is so no longer.
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

    /// Drops the sessions that have lingered longest where too many do. What Redis holds of them, a sweep removes: the
    /// worker goes on under a new incarnation, and the lease of this one passes.
    private mutating func limitLingering() {
        let limit = lingering.limit(settings.bounds)
        while lingeringSessionCount > limit,
            let oldest = lingering.popFirst(where: { sessions.read($0) { _ in true } ?? false }),
            let recorder = sessions[oldest]?.recorder
        {
            if recorder.mayLeaveDevice { leavesDevicesToSweep = true }
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
        // A revocation shows in the answer to the first write; where none can be asked for, nobody is kept waiting.
        if recorder.needsNoToken || incarnation == nil { listen(to: key, at: now) }
    }
}
