// Sessions: from the connection and the hello to the last write for the device.

package import RollcallProtocol

/// Owns the life of the sessions of a shard. The table has them by name; only this, and the records when a session has nothing
/// left to write, change it.
final class Sessions {
    private let loop: Loop
    private let table: SessionTable
    private let outbound: Outbound
    private let budgets: UserBudgets
    private let watches: Watches
    private let conversations: Conversations
    private let records: DeviceRecords
    private let hereRecords: HereRecords

    init(
        _ loop: Loop, _ table: SessionTable, _ outbound: Outbound, _ budgets: UserBudgets, _ watches: Watches,
        _ conversations: Conversations, _ records: DeviceRecords, _ hereRecords: HereRecords
    ) {
        (self.loop, self.table, self.outbound, self.budgets) = (loop, table, outbound, budgets)
        (self.watches, self.conversations, self.records) = (watches, conversations, records)
        self.hereRecords = hereRecords
    }

    /// Handles a new connection.
    func connected(_ peer: any Peer) -> Session {
        let session = table.connected(peer, at: loop.host.now)
        remindOfEnd(session)
        loop.wakeInTime()
        return session
    }

    /// Handles the hello of a new session.
    func greeted(_ hello: ClientMessage.Hello, id: MessageID?, on session: Session, at now: Instant) {
        guard let peer = session.peer else { return }
        do throws(ProofRefusal) {
            let proof = try peer.prove(hello.token, device: hello.device)
            if let last = hello.user, last != proof.user { return end(session, .anotherUser, at: now) }
            accept(proof, for: session, at: now)
            let name = SessionName(user: proof.user, device: proof.device, session: table.newID())
            let recorder = DeviceRecorder(
                name: name, opened: session.connected, issued: proof.issued, profile: proof.grant.profile)
            welcome(session, recorder, hello: hello, id: id, at: now)
        } catch {
            end(session, error.end, at: now)
        }
    }

    /// Handles a fresh token of an open session. If it is not accepted, the session goes on with its present token until
    /// that expires.
    func refresh(_ token: ByteString, id: MessageID?, on session: Session, at now: Instant) {
        guard let peer = session.peer, let recorder = session.recorder else { return }
        do throws(ProofRefusal) {
            let proof = try peer.prove(token, device: recorder.name.device)
            guard recorder.name.user == proof.user else { return end(session, .anotherUser, at: now) }
            guard recorder.name.device == proof.device else {
                return end(session, .badToken(because: "the token is for another device"), at: now)
            }
            // An older token does not shorten the lifetime, and must not extend it if it is revoked. Nor does it open
            // what a later one has closed.
            session.recorder?.refreshed(issued: proof.issued)
            if !recorder.isOlder(proof.issued) {
                let former = session.watchRight
                accept(proof, for: session, at: now)
                conversations.rightNarrowed(of: session, user: proof.user)
                if session.watchRight != former { watches.rightChanged(of: session, at: now) }
                records.profileChanged(to: proof.grant.profile, of: session, at: now)
            }
            outbound.acknowledge(id, to: session)
        } catch {
            guard !error.endsWelcomed else { return end(session, error.end, at: now) }
            outbound.answer(
                session, error.end.code.mayReconnect ? .unavailable : .badRequest, id: id,
                "the token is not accepted: \(error.end.sentence)")
        }
    }

    private func accept(_ proof: Proof, for session: Session, at now: Instant) {
        let expires = proof.lifetime.map { now + $0 }
        session.accepted(
            proof.grant.join ?? loop.settings.join, proof.grant.watch ?? loop.settings.watch, until: expires)
        if let expires { loop.remind(.session(session), at: expires) }
    }

    /// Handles the end of a connection for any reason but a goodbye.
    ///
    /// - Parameter silence: the time since the last received byte, which is when the device was last known to be
    ///   present.
    func disconnected(_ session: Session, silence: Duration, at now: Instant) {
        guard session.isConnected else { return }
        session.disconnected()
        connectionEnded(session, lost: loop.redis.time(at: now).advanced(by: .zero - silence), at: now)
    }

    /// Handles a session's deadline: a late hello, the end of its grace period, its token's expiry, or its moment to
    /// leave a draining worker.
    func due(_ session: Session, at now: Instant) {
        guard !session.isOver else { return }
        switch session.phase {
        case .greeting, .open:
            connectionDue(session, at: now)
        case .inGrace(let until):
            guard now >= until else {
                loop.remind(.session(session), at: until)
                return
            }
            deviceGone(session, at: now)
        case .ending:
            break
        }
    }

    private func connectionDue(_ session: Session, at now: Instant) {
        if let expires = session.tokenExpires, now >= expires {
            end(session, .tokenExpired(), at: now)
        } else if let leaves = session.leaves, now >= leaves {
            end(session, .draining(to: table.drawDestination()), at: now)
        } else if session.phase != .open, now >= session.connected + loop.settings.hello {
            session.peer?.limitHit(.hello)
            end(session, .late, at: now)
        } else {
            remindOfEnd(session)
        }
    }

    private func remindOfEnd(_ session: Session) {
        let hello = session.phase == .open ? nil : session.connected + loop.settings.hello
        if let next = [hello, session.leaves, session.tokenExpires].compactMap({ $0 }).min() {
            loop.remind(.session(session), at: next)
        }
    }

    /// Ends a session: tells the client what ``SessionEnd`` says, closes, and does with the device what it says.
    func end(_ session: Session, _ end: SessionEnd, at now: Instant) {
        if session.isConnected {
            if let farewell = end.farewell { outbound.deliver(.goodbye(farewell), to: session) }
            session.peer?.close(end)
            session.disconnected()
        }
        switch session.phase == .greeting ? .keepsPresence : end.device {
        case .keepsPresence:
            connectionEnded(session, lost: loop.redis.time(at: now), at: now)
        case .isGone where session.phase != .ending:
            if session.phase == .open { leaveEverything(session, at: now) }
            deviceGone(session, at: now)
        case .isGone:
            break
        case .belongsToAnother:
            if session.phase == .open { leaveEverything(session, at: now) }
            hereRecords.replaced(session, at: now)
            session.recorder?.abandoned()
            session.isEnding()
            records.advance(session, at: now)
        }
    }

    /// The device is gone, by a goodbye, a revocation or the end of its grace period. Whatever of a session survives a lost
    /// connection ends here. That of a replaced session belongs to the newer one, and that of a dropped one is swept.
    private func deviceGone(_ session: Session, at now: Instant) {
        let time = loop.redis.time(at: now)
        session.recorder?.removed(at: time)
        hereRecords.gone(session, at: now)
        session.isEnding()
        records.advance(session, at: now)
    }

    private func connectionEnded(_ session: Session, lost: Timestamp, at now: Instant) {
        guard session.phase == .open else {
            outbound.forget(session)
            table.remove(session)
            loop.forget(.session(session))
            return
        }
        let wasLeaving = session.held?.hasGoodbye == true
        leaveEverything(session, at: now)
        guard !wasLeaving else { return deviceGone(session, at: now) }
        let graceEnd = now + loop.settings.removal
        let state = session.recorder?.state
        session.recorder?.decided(state: state, lost: lost)
        session.keepsPresence(until: graceEnd)
        loop.remind(.session(session), at: graceEnd)
        records.advance(session, at: now)
    }

    /// Makes room for a session that has just been admitted, if its user has too many devices here: the devices whose
    /// connections have been lost longest are gone.
    private func makeRoom(for name: SessionName, at now: Instant) {
        var present = 0
        var lost: [(until: Instant, session: Session)] = []
        for session in table.of(name.user) {
            switch session.phase {
            case .open: present += 1
            case .inGrace(let until) where session.recorder?.name.device != name.device: lost.append((until, session))
            case .greeting, .inGrace, .ending: break
            }
        }
        let surplus = present + lost.count - loop.settings.bounds.devicesPerUser
        guard surplus > 0 else { return }
        for (_, session) in lost.sorted(by: { $0.until < $1.until }).prefix(surplus) { deviceGone(session, at: now) }
    }

    /// Ends everything for which an open session needs its connection, which may only be lost.
    private func leaveEverything(_ session: Session, at now: Instant) {
        table.lostConnection(session)
        // Drops those that have lingered longest if there are too many.
        while let oldest = table.nextToDrop(loop.settings.bounds) { records.drop(oldest, at: now) }
        conversations.stopTypingEverywhere(session, at: now)
        for room in session.joined { conversations.depart(session, from: room) }
        for room in session.joining { conversations.depart(session, from: room) }
        for watch in session.watched.elements { watches.remove(session, of: watch.user) }
        session.leftEverything()
        outbound.forget(session)
        if let user = session.user { budgets.forget(session, of: user) }
        loop.forget(.state(session))
    }

    private func welcome(
        _ session: Session, _ recorder: DeviceRecorder, hello: ClientMessage.Hello, id: MessageID?, at now: Instant
    ) {
        var recorder = recorder
        let name = recorder.name
        let sequence = recorder.decided(state: hello.state)
        table.opened(session, as: recorder)
        if let id { records.acknowledge(id, onceWritten: sequence, to: session) }
        let welcome = ServerMessage.Welcome(
            user: name.user, device: name.device, session: name.session.random, worker: loop.redis.workerName,
            time: loop.redis.time(at: now),
            ping: loop.settings.ping.milliseconds,
            typing: .init(
                expiry: loop.settings.typing.expiry.milliseconds, throttle: loop.settings.typing.throttle.milliseconds),
            limits: loop.settings.limits, reconnect: loop.settings.reconnect.milliseconds,
            coalesce: loop.settings.presenceCoalesce.milliseconds, join: session.right, watch: session.watchRight)
        outbound.deliver(.welcome(welcome), to: session)
        records.advance(session, at: now)
        makeRoom(for: name, at: now)
        // The reply to the first write reports a revocation, and what the user has decided.
        if !loop.redis.takesWrites { records.proveByRead(session, at: now) }
    }

    // MARK: Draining

    /// Starts the shutdown: each device is disconnected at a random moment within `spread`.
    ///
    /// - Parameter destinations: other workers. Each device gets one of them.
    func drain(
        over spread: Duration, to destinations: [Destination] = [], at now: Instant
    ) {
        let drain = Drain(ends: now + spread, destinations: destinations)
        for session in table.drain(drain, at: now) { remindOfEnd(session) }
    }

    /// Moves some devices to other workers, in the same way.
    func shed(_ count: Int, over spread: Duration, to destinations: [Destination], at now: Instant) {
        for session in table.shed(count, Drain(ends: now + spread, destinations: destinations), at: now) {
            remindOfEnd(session)
        }
    }

    var movableCount: Int { table.movableCount }

    /// Whether no device is connected and, if Redis accepts writes, every decision is written.
    var isDrained: Bool {
        let mustWrite = loop.redis.takesWrites
        let areSessionsDone = table.all.allSatisfy { session in
            guard !session.isConnected else { return false }
            return !mustWrite || session.recorder.map { $0.isWritten($0.sequence) } ?? true
        }
        return areSessionsDone && (!mustWrite || hereRecords.isWritten)
    }
}

// MARK: Draining

// Orderly shutdown: each device is disconnected at its own random moment, so that the other workers do not receive all
// devices at once, and each device is away only while it reconnects.

/// Another worker that takes devices.
package struct Destination: Hashable, Sendable {
    package var address: ByteString
    /// Its share of the devices, relative to the others'.
    package var weight: Double

    package init(_ address: ByteString, weight: Double = 1) { (self.address, self.weight) = (address, weight) }
}

/// The settings of a shutdown.
struct Drain: Hashable, Sendable {
    /// When the last device is disconnected.
    let ends: Instant
    /// Other workers; empty if devices reconnect to the address they already use.
    let destinations: [Destination]

    /// Draws the moment at which one session leaves.
    func moment(at now: Instant, using random: inout some RandomNumberGenerator) -> Instant {
        now + (ends - now) * Double.random(in: 0..<1, using: &random)
    }
}
