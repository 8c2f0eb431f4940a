// Sessions: from the connection and the hello to the last write for the device.

public import RollcallModel

extension Shard {
    /// Handles a new connection.
    public func connected(at now: Instant) -> SessionKey {
        let key = sessions.connected(at: now)
        remindOfEnd(key)
        return key
    }

    /// Handles a token that was verified for this user and device.
    ///
    /// - Parameters:
    ///   - lifetime: how long the token is valid; the session ends with it. `nil` for no limit.
    ///   - issued: when the token was issued, which decides whether a revocation applies; `nil` if none can apply.
    ///   - right: which conversations without members it opens; `nil` if it does not say it.
    public func authenticated(
        _ key: SessionKey, user: UserID, device: DeviceID, lifetime: Duration? = nil, issued: Timestamp? = nil,
        right: JoinRight? = nil, id: MessageID?, at now: Instant
    ) -> [ShardAction] {
        guard let session = sessions[key] else { return [] }
        let right = right ?? settings.join
        switch session.phase {
        case .authenticating(let hello, let id):
            tokenLasts(lifetime, for: key, at: now)
            sessions.change(key) { $0.right = right }
            let name = SessionName(user: user, device: device, session: sessions.newID())
            let recorder = DeviceRecorder(name: name, opened: session.connected, issued: issued)
            // A device that reconnects has no fresh burst of changes.
            let others = sessions.keys(of: user).filter { sessions[$0]?.recorder?.name.device == device }
            if let other = others.first, let pace = sessions[other]?.statePace {
                sessions.change(key) { $0.statePace = pace }
            }
            welcome(key, recorder, hello: hello, id: id, at: now)
        case .open where session.recorder?.name.user == user && session.recorder?.name.device == device:
            // An older token does not shorten the lifetime, and must not extend it if it is revoked. Nor does it open
            // what a later one has closed.
            if session.recorder?.isOlder(issued) != true {
                tokenLasts(lifetime, for: key, at: now)
                sessions.change(key) { $0.right = right }
                rightNarrowed(of: key, user: user)
            }
            sessions.change(key) { $0.recorder?.refreshed(issued: issued) }
            acknowledge(id, to: key)
        case .open:
            close(key, .badToken, because: "the token is for another user or device", at: now)
        case .greeting, .inGrace, .ending:
            break
        }
        return take()
    }

    private func tokenLasts(_ lifetime: Duration?, for key: SessionKey, at now: Instant) {
        sessions.change(key) { $0.tokenExpires = lifetime.map { now + $0 } }
        if let lifetime { timers.remind(.session(key), at: now + lifetime) }
    }

    /// Refuses a session: its token is not valid, or there is no room for it.
    ///
    /// - Parameters:
    ///   - sentence: why, for the client's developer.
    ///   - reason: the goodbye's reason, where the close code has several.
    ///   - pause: the reconnect delay sent with close code `busy`; `nil` for the default.
    public func refused(
        _ key: SessionKey, _ code: CloseCode, because sentence: String = "", reason: GoodbyeReason? = nil,
        after pause: Duration? = nil, at now: Instant
    ) -> [ShardAction] {
        guard sessions[key]?.isConnected == true else { return [] }
        if let goodbye = Self.goodbye(before: code, reason, after: pause ?? ShardSettings.busyPause) {
            actions.append(.send(.goodbye(goodbye), to: [key]))
        }
        close(key, code, because: sentence, at: now)
        return take()
    }

    /// Handles a token that is not accepted, or cannot be verified now. A session without a welcome ends. An open session
    /// continues with its present token until that expires.
    public func tokenRefused(
        _ key: SessionKey, _ code: CloseCode, because sentence: String, reason: GoodbyeReason? = nil,
        after pause: Duration? = nil, id: MessageID?, at now: Instant
    ) -> [ShardAction] {
        guard case .open = sessions[key]?.phase else {
            return refused(key, code, because: sentence, reason: reason, after: pause, at: now)
        }
        answer(key, code.mayReconnect ? .unavailable : .badRequest, id: id, "the token is not accepted: \(sentence)")
        return take()
    }

    private static func goodbye(
        before code: CloseCode, _ reason: GoodbyeReason?, after pause: Duration
    ) -> ServerMessage.Goodbye? {
        switch code {
        case .tokenExpired: .init(reason: .expired, reconnect: true)
        case .tooManySessions: .init(reason: .limit, reconnect: false)
        case .busy: .init(reason: reason ?? .busy, reconnect: true, after: pause.milliseconds)
        default: nil
        }
    }

    /// Handles the end of a connection for any reason but a goodbye.
    ///
    /// - Parameter silence: the time since the last received byte, which is when the device was last known to be
    ///   present.
    public func disconnected(_ key: SessionKey, silence: Duration, at now: Instant) -> [ShardAction] {
        guard sessions[key]?.isConnected == true else { return [] }
        connectionEnded(key, lost: redis.time(at: now).advanced(by: .zero - silence), at: now)
        return take()
    }

    /// Handles that another session holds the device now, on another worker or on this one.
    package func replaced(_ name: SessionName, at now: Instant) -> [ShardAction] {
        guard let key = sessions.key(of: name) else { return [] }
        sessions.change(key) { $0.recorder?.abandoned() }
        dropReplaced(key, at: now)
        return take()
    }

    /// Ends a session at an operator's request.
    package func sentAway(_ name: SessionName, at now: Instant) -> [ShardAction] {
        guard let key = sessions.key(of: name) else { return [] }
        dismiss(key, .sentAway, at: now)
        return take()
    }

    /// Handles a session's deadline: a late hello, the end of its grace period, its token's expiry, or its moment to
    /// leave a draining worker.
    func sessionDue(_ key: SessionKey, at now: Instant) {
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

    private func connectionDue(_ key: SessionKey, _ session: Session, at now: Instant) {
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

    func remindOfEnd(_ key: SessionKey) {
        guard let session = sessions[key] else { return }
        let hello = session.phase == .open ? nil : session.connected + settings.hello
        if let next = [hello, session.leaves, session.tokenExpires].compactMap({ $0 }).min() {
            timers.remind(.session(key), at: next)
        }
    }

    /// Closes the connection. As after any loss, the device keeps its presence for the grace period.
    func close(_ key: SessionKey, _ code: CloseCode, because sentence: String = "", at now: Instant) {
        actions.append(.close(key, code, because: sentence))
        connectionEnded(key, lost: redis.time(at: now), at: now)
    }

    /// Handles a goodbye: the device is gone at once.
    func goodbye(_ key: SessionKey, id: MessageID?, at now: Instant) {
        acknowledge(id, to: key)
        actions.append(.close(key, .normal, because: ""))
        leaveEverything(key, at: now)
        deviceGone(key, at: now)
    }

    private func deviceGone(_ key: SessionKey, at now: Instant) {
        let time = redis.time(at: now)
        sessions.change(key) {
            $0.recorder?.removed(at: time)
            $0.phase = .ending
        }
        advance(key, at: now)
    }

    private func connectionEnded(_ key: SessionKey, lost: Timestamp, at now: Instant) {
        guard let session = sessions[key] else { return }
        guard session.phase == .open else {
            fanOut.forget(key)
            sessions.remove(key)
            timers.forget(.session(key))
            return
        }
        let wasLeaving = session.held?.hasGoodbye == true
        leaveEverything(key, at: now)
        guard !wasLeaving else { return deviceGone(key, at: now) }
        let graceEnd = now + settings.removal
        sessions.change(key) {
            let state = $0.recorder?.state
            $0.recorder?.decided(state: state, lost: lost)
            $0.phase = .inGrace(until: graceEnd)
        }
        timers.remind(.session(key), at: graceEnd)
        advance(key, at: now)
        if let user = session.user { limitDevicesInGrace(of: user, at: now) }
    }

    /// Ends the grace period of a user's oldest sessions if the user has too many devices in grace.
    private func limitDevicesInGrace(of user: UserID, at now: Instant) {
        let all = sessions.keys(of: user)
        guard all.count > settings.bounds.devicesInGrace else { return }
        let inGrace = all.filter {
            sessions.read($0) { if case .inGrace = $0.phase { true } else { false } } == true
        }
        for key in inGrace.dropLast(settings.bounds.devicesInGrace) { deviceGone(key, at: now) }
    }

    /// Ends a session whose device now belongs to another session. The record is not changed.
    func dropReplaced(_ key: SessionKey, at now: Instant) {
        if sessions[key]?.isConnected == true {
            actions.append(.send(.goodbye(.init(reason: .replaced, reconnect: false)), to: [key]))
            actions.append(.close(key, .replaced, because: ""))
            leaveEverything(key, at: now)
        }
        sessions.change(key) { $0.phase = .ending }
        advance(key, at: now)
    }

    /// Ends a session without a grace period: its device should not reconnect before the cause is fixed.
    func dismiss(_ key: SessionKey, _ code: CloseCode, at now: Instant) {
        guard let phase = sessions.read(key, { $0.phase }), phase != .ending else { return }
        if sessions[key]?.isConnected == true {
            if code == .sentAway {
                actions.append(.send(.goodbye(.init(reason: .sentAway, reconnect: false)), to: [key]))
            }
            actions.append(.close(key, code, because: code == .badToken ? "the token was revoked" : ""))
            leaveEverything(key, at: now)
        }
        deviceGone(key, at: now)
    }

    /// Ends everything that an open session took part in.
    private func leaveEverything(_ key: SessionKey, at now: Instant) {
        sessions.lostConnection(key)
        limitLingering()
        stopTypingEverywhere(key, at: now)
        for room in sessions[key]?.joined ?? [] { depart(key, from: room) }
        for room in sessions[key]?.joining ?? [] { depart(key, from: room) }
        for watch in sessions[key]?.watched.keys ?? [] { removeWatcher(key, of: watch.user) }
        sessions.change(key) { $0.leftEverything() }
        fanOut.forget(key)
        for reminder in [Reminder.held(key), .state(key)] { timers.forget(reminder) }
    }

    /// Drops the sessions that have lingered longest if there are too many. Their devices may stay in Redis. A sweep
    /// removes those: the worker starts a new incarnation, and the lease of this one expires. A session that leaves
    /// nothing but its entry on the worker's list is unlisted.
    private func limitLingering() {
        while let oldest = sessions.nextToDrop(settings.bounds), let recorder = sessions[oldest]?.recorder {
            if recorder.mayLeaveDevice {
                repairs.leftDevice()
            } else if let list = recorder.listToLeave {
                let unlist = StoreRequest.Unlist(name: recorder.name, incarnation: list, key: oldest)
                actions.append(.store(.unlist(unlist)))
            }
            tally.lingeringDropped += 1
            forget(oldest)
        }
    }

    func forget(_ key: SessionKey) {
        sessions.remove(key)
        repairs.forget(key)
        timers.forget(.session(key))
    }

    private func welcome(
        _ key: SessionKey, _ recorder: DeviceRecorder, hello: ClientMessage.Hello, id: MessageID?, at now: Instant
    ) {
        var recorder = recorder
        let name = recorder.name
        let sequence = recorder.decided(state: hello.state)
        sessions.opened(key, as: recorder)
        if let id { sessions.change(key) { $0.acks.append((sequence, id)) } }
        let welcome = ServerMessage.Welcome(
            user: name.user, device: name.device, session: name.session.random, worker: redis.workerName,
            time: redis.time(at: now),
            ping: settings.ping.milliseconds,
            typing: .init(
                expiry: settings.typing.expiry.milliseconds, throttle: settings.typing.throttle.milliseconds),
            limits: settings.limits, join: sessions.read(key) { $0.right })
        actions.append(.send(.welcome(welcome), to: [key]))
        advance(key, at: now)
        // The reply to the first write reports a revocation.
        if recorder.needsNoToken || !redis.takesWrites { listenUnlessRevoked(key, at: now) }
    }

    /// Processes the messages of a session whose first write cannot tell whether its token was revoked. While Redis
    /// answers reads, a read tells; while Redis is away, nothing does, and the first write will.
    func listenUnlessRevoked(_ key: SessionKey, at now: Instant) {
        guard sessions.read(key, { $0.isUnproven && $0.phase == .open }) == true else { return }
        guard redis.answersReads, let recorder = sessions[key]?.recorder, !recorder.needsNoToken else {
            return listen(to: key, at: now)
        }
        let session = AuditedSession(session: key, name: recorder.name, sequence: recorder.sequence)
        let incarnation = Incarnation(name: redis.workerName)
        actions.append(.store(.audit(.init(sessions: [session], incarnation: incarnation))))
    }
}
