// The expected state, derived from what devices decided and their workers received. It knows nothing of how workers
// work, only what they promise.

internal import RollcallCore
internal import RollcallProtocol

/// A device, identified by its user and its name.
struct DeviceName: Hashable, Comparable {
    let user: UserID
    let device: DeviceID

    static func < (left: Self, right: Self) -> Bool { (left.user, left.device) < (right.user, right.device) }
}

/// The expected state of all users.
final class Truth {
    /// Each user's devices.
    private let devices: [UserID: [DeviceTruth]]
    private var members: [ConversationID: MembersTruth] = [:]
    /// When Redis last lost data, or went back to older data.
    private(set) var dataLost: Instant?
    /// Whether Redis lost its data again before everything had been written that it lost the last time.
    private(set) var isLostAgain = false
    /// The age of the data that it had then.
    private(set) var dataFrom = Instant(nanoseconds: 0)
    /// When Redis's clock was last set, and how far back.
    private(set) var clockSet: Instant?
    private var setBackBy = Duration.zero
    /// Whether sessions may be listed under a lease that Redis has lost and that its worker does not remember.
    private(set) var mayLeaveLists = false
    /// Sessions that may be listed, because the reply was lost.
    private(set) var untold: [Incarnation: Set<SessionName>] = [:]
    /// When a device of each user that a dead worker had held was last removed: by a sweep, which may be under way, or
    /// by a newer session of the device.
    private(set) var lastSweep: [UserID: Instant] = [:]
    private var swept: Set<SessionName> = []
    /// When a worker last dropped sessions.
    private(set) var lastDrop: Instant?
    /// When each user's tokens were last revoked, and which sessions operators ended.
    private(set) var revocations: [UserID: Instant] = [:]
    /// The latest time that Redis's clock showed at one.
    private var latestRevocations: [UserID: Timestamp] = [:]
    private var sentAway: Set<SessionName> = []
    /// When operators gave up ending these sessions.
    private var givenUp: [SessionName: Instant] = [:]
    /// Users whose record was erased, until their next `hello`.
    private(set) var erased: Set<UserID> = []
    private(set) var everErased: Set<UserID> = []
    /// Counts changes of the expected state.
    private(set) var revision = 0

    private unowned let world: World
    private let all: [DeviceTruth]

    init(_ world: World) {
        self.world = world
        all = world.names.map { DeviceTruth($0) }
        devices = Dictionary(grouping: all) { $0.name.user }
    }

    private var now: Instant { world.agenda.now }

    func devices(of user: UserID) -> [DeviceTruth] { devices[user] ?? [] }

    func device(of edge: EdgeSession) -> DeviceTruth {
        guard let device = devices(of: edge.user).first(where: { $0.name.device == edge.device }) else {
            preconditionFailure("every device of the world is known")
        }
        return device
    }

    // MARK: Messages from devices

    /// - Parameter came: when the worker received it, which is earlier if it had to wait.
    func received(_ message: ClientMessage, came: Instant, on edge: EdgeSession) {
        revision += 1
        let device = device(of: edge)
        switch message {
        case .hello(let hello):
            began(edge, hello.state)
        case .state(let state):
            device.changed(edge, to: state, at: now)
            if state == .background { stopsTyping(edge) }
        case .typing(let conversation, true, _): types(edge, in: conversation, came: came)
        case .typing(let conversation, false, _), .leave(let conversation):
            device.typing[conversation]?.stopped(on: edge, at: now)
        case .goodbye:
            device.saidGoodbye(edge, at: now)
            stopsTyping(edge)
        case .token: device.showedToken = now
        case .watch, .unwatch, .get, .join, .enter, .exit, .person, .ping: break
        }
    }

    // MARK: Actions of operators

    func revoked(_ user: UserID) {
        revision += 1
        revocations[user] = now
        latestRevocations[user] = max(world.redis.time, latestRevocations[user] ?? world.redis.time)
        for device in devices(of: user) { device.sentAway(at: now) }
    }

    func sentAway(_ sessions: [SessionName]) {
        revision += 1
        sentAway.formUnion(sessions)
        for name in sessions {
            for device in devices(of: name.user) where device.name.device == name.device {
                device.sentAway(name.session, at: now)
            }
        }
    }

    func gaveUp(on sessions: [SessionName]) {
        for name in sessions { givenUp[name] = now }
    }

    /// Returns whether an outage kept the worker of this session from hearing operators until they gave up.
    func wasUnreached(_ edge: EdgeSession) -> Bool {
        guard let name = edge.sessionName, let moment = givenUp[name] else { return false }
        return world.weather.isUnsettled(at: moment, by: edge.worker.places, settling: .zero)
    }

    func erased(_ user: UserID) {
        revision += 1
        erased.insert(user)
        everErased.insert(user)
    }

    func wasSentAway(_ edge: EdgeSession) -> Bool {
        edge.sessionName.map(sentAway.contains) ?? false
    }

    /// Returns whether the token that the device sent last is revoked.
    func isRevoked(_ edge: EdgeSession, before moment: Instant) -> Bool {
        guard let token = edge.token, let revoked = revocations[edge.user] else { return false }
        // Both times have milliseconds: a token issued in the millisecond of the revocation is still valid.
        return world.redis.hostTime(at: token.issued) < world.redis.hostTime(at: revoked) && revoked <= moment
    }

    /// Returns whether the token may be refused as revoked: a revocation is dated by Redis's clock if that is ahead.
    func mayBeRevoked(_ edge: EdgeSession) -> Bool {
        guard let token = edge.token, let latest = latestRevocations[edge.user] else { return false }
        return isRevoked(edge, before: now) || world.redis.hostTime(at: token.issued) < latest
    }

    /// Returns whether Redis has lost a revocation of the user.
    func isRevocationLost(_ user: UserID) -> Bool {
        guard let revoked = revocations[user], let dataLost else { return false }
        return dataLost >= revoked
    }

    private func began(_ edge: EdgeSession, _ state: DeviceState) {
        erased.remove(edge.user)
        let device = device(of: edge)
        if device.isJudged, let former = device.current?.sessionName, !swept.contains(former) {
            lastSweep[edge.user] = now
        }
        let unwritten = world.calm(at: device.machine + [.redis]) - Checks.lag
        var former = device.states(since: unwritten, until: now)
        if world.isUnsettled(at: device.machine) { former.insert(.gone) }
        let isUncertain = world.isUnsettled(at: device.machine + edge.places)
        let settling = device.isJudged ? world.settings.judging : Checks.settling
        let judges = device.isJudged ? world.places.map { Weather.Place.judge($0.index) } : []
        let known = world.calm(at: device.machine + [.redis] + judges, settling: settling) - Checks.lag
        device.began(edge, state, after: former, known: known, isUncertain: isUncertain, at: now)
    }

    /// - Parameter wasLeaving: whether its last message was a `goodbye`, processed or not.
    func lost(_ edge: EdgeSession, wasLeaving: Bool) {
        revision += 1
        if wasLeaving {
            device(of: edge).ended(edge, at: now)
        } else {
            device(of: edge).lost(edge, graceEnds: now + world.settings.shard.grace, at: now)
        }
        if isRevoked(edge, before: now) || wasSentAway(edge) { device(of: edge).sentAway(at: now) }
        stopsTyping(edge)
    }

    /// - Parameter rest: messages that may or may not have been processed.
    func closed(_ edge: EdgeSession, _ code: CloseCode, rest: [ClientMessage]) {
        for case .typing(let conversation, true, _) in rest { types(edge, in: conversation, came: now, isTaken: false) }
        switch code {
        case .normal, .replaced, .sentAway: device(of: edge).ended(edge, at: now)
        case .badToken: device(of: edge).refused(edge, at: now)
        default:
            lost(edge, wasLeaving: rest.contains(.goodbye))
            device(of: edge).may(rest, on: edge, from: now)
        }
        stopsTyping(edge)
    }

    // MARK: Faults of workers and Redis

    func died(_ worker: SimulatedWorker) {
        // Its last heartbeat may be the last one before an outage.
        let beat = world.calm(at: worker.places) - world.settings.heartbeat
        gone(worker, judgedFrom: beat + world.settings.lease, until: now + world.settings.judging)
    }

    /// A worker is about to remove devices of a dead worker. Until now they counted for their users, in Redis.
    func sweepBegins(_ sessions: [SessionName]) {
        for session in sessions { lastSweep[session.user] = now }
        swept.formUnion(sessions)
    }

    /// The worker has shut down in order: its lease continues for the grace period, in which its devices may reconnect.
    func exited(_ worker: SimulatedWorker) {
        let until = now + max(world.settings.lease, world.settings.shard.grace) + Checks.settling
        let ended = world.isUnsettled(at: worker.places) ? now : now + world.settings.shard.grace
        gone(worker, judgedFrom: ended, until: until)
    }

    private func gone(_ worker: SimulatedWorker, judgedFrom from: Instant, until: Instant) {
        revision += 1
        mayLeaveLists = mayLeaveLists || dataLost != nil
        let calm = world.calm(at: worker.places)
        let unwritten = calm - Checks.lag
        // No worker writes again what Redis lost and this worker had not yet written again.
        let isForgotten = dataLost.map { $0 >= calm } ?? false
        for device in all {
            device.workerGone(
                worker, unwritten: unwritten, judgedFrom: isForgotten ? now : from, until: until, at: now)
            for conversation in world.conversations {
                device.typing[conversation]?.workerGone(worker, unwritten: unwritten)
            }
        }
    }

    /// Records that it is unknown whether a session is listed, because the reply was lost.
    func listingUntold(_ name: SessionName, of incarnation: Incarnation) {
        untold[incarnation, default: []].insert(name)
    }

    /// - Parameter moment: the age of the data that Redis has now.
    func dataReplaced(asOf moment: Instant) {
        revision += 1
        mayLeaveLists = dataLost != nil
        let isSettled = !world.weather.isUnsettled(at: now, by: [.redis], settling: world.settings.judging)
        dataFrom = isSettled ? moment : min(dataFrom, moment)
        isLostAgain = dataLost.map { now - $0 < WeakerStates.delay + Checks.settling } ?? false
        dataLost = now
        for device in all { device.dataReplaced() }
    }

    /// Redis's clock was set: expired leases may be valid again, valid leases expired, and stored times may be in the
    /// past or the future.
    func clockStepped(by step: Duration) {
        revision += 1
        clockSet = now
        setBackBy = max(.zero, .zero - step)
        let rules = world.settings.shard.typing
        for device in all {
            for conversation in world.conversations {
                device.typing[conversation]?.clockSetBack(
                    by: setBackBy, at: now, expiry: rules.expiry, throttle: rules.throttle)
            }
        }
    }

    /// How much later than now typing that is signalled now may count: until its next heartbeat, a worker does not know
    /// that Redis's clock was set back, and a deferred signal counts from when it is sent.
    private var deferral: Duration {
        guard let clockSet, now < clockSet + world.settings.heartbeat * 2 else { return .zero }
        return min(setBackBy, world.settings.shard.typing.throttle)
    }

    /// A worker dropped disconnected sessions because there were too many: a sweep removes their devices.
    func dropped(by worker: SimulatedWorker) {
        revision += 1
        lastDrop = now
        // It may have dropped others before, and held back since what it had not written.
        let unwritten = min(world.calm(at: worker.places), world.heldBack(at: worker.places)) - Checks.lag
        let until = now + world.settings.heartbeat * 2 + world.settings.judging
        for device in all { device.dropped(by: worker, unwritten: unwritten, until: until, at: now) }
    }

    // MARK: Typing

    private func types(_ edge: EdgeSession, in conversation: ConversationID, came: Instant, isTaken: Bool = true) {
        let isCertain =
            isTaken && !world.isUnsettled(at: edge.places) && isMember(edge.user, of: conversation, for: edge) == true
            && edge.view.joined[conversation]?.typists != nil
        let certain = TypingTruth.Certainty(signal: now, known: now + world.settings.shard.typing.throttle)
        device(of: edge).typing[conversation, default: TypingTruth()].signalled(
            on: edge, came: came, at: now, expiry: world.settings.shard.typing.expiry,
            certain: isCertain ? certain : nil, deferral: deferral)
    }

    private func stopsTyping(_ edge: EdgeSession) {
        let device = device(of: edge)
        for conversation in world.conversations { device.typing[conversation]?.stopped(on: edge, at: now) }
    }

    // MARK: Members

    func membersSet(_ users: Set<UserID>, of conversation: ConversationID) {
        revision += 1
        var changed = members[conversation]?.changed ?? [:]
        for user in world.users where members[conversation]?.users.contains(user) ?? true != users.contains(user) {
            changed[user] = now
        }
        members[conversation] = MembersTruth(users: users, changed: changed)
        for device in all where !users.contains(device.name.user) {
            device.typing[conversation]?.stopped(at: now)
        }
    }

    /// Returns whether a user is a member, as the worker of `edge` should know; `nil` while the update may be in
    /// flight.
    func isMember(_ user: UserID, of conversation: ConversationID, for edge: EdgeSession) -> Bool? {
        isMember(user, of: conversation, asKnownAt: edge.places)
    }

    /// Returns whether a conversation has members, and a user may be one of them, as the worker of `edge` should know.
    func mayShare(_ user: UserID, in conversation: ConversationID, for edge: EdgeSession) -> Bool {
        members[conversation] != nil && isMember(user, of: conversation, for: edge) != false
    }

    /// Returns whether a user is a member, as observers should know whose updates arrive by way of these places; `nil`
    /// while the update may be in flight.
    func isMember(_ user: UserID, of conversation: ConversationID, asKnownAt places: [Weather.Place]) -> Bool? {
        if let app = world.app, conversation == world.conversations[1] { return app.admits(user, asKnownAt: places) }
        guard let members = members[conversation] else { return true }
        if let changed = members.changed[user], changed >= world.calm(at: places) - .seconds(1) { return nil }
        return members.users.contains(user)
    }
}

/// A conversation's members.
struct MembersTruth {
    let users: Set<UserID>
    /// When each user was last added or removed.
    let changed: [UserID: Instant]
}
