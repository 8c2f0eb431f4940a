// What is true, by what the devices decided and their workers heard. The truth knows nothing of how the workers work:
// only what they promise.

internal import RollcallCore
internal import RollcallModel

/// A device by its user and its own name.
struct DeviceName: Hashable, Comparable {
    let user: UserID
    let device: DeviceID

    static func < (left: Self, right: Self) -> Bool { (left.user, left.device) < (right.user, right.device) }
}

/// The truth about everybody.
final class Truth {
    /// Each user's devices.
    private let devices: [UserID: [DeviceTruth]]
    private var members: [ConversationID: MembersTruth] = [:]
    /// When Redis last lost data, or had older ones.
    private(set) var dataLost: Instant?
    /// From when those may be that it had then.
    private(set) var dataFrom = Instant(nanoseconds: 0)
    /// Whether sessions may be listed under a lease that Redis forgot and whose worker does not remember it.
    private(set) var mayLeaveLists = false
    /// Counts what became true.
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

    // MARK: What workers hear of devices

    func received(_ message: ClientMessage, on edge: EdgeSession) {
        revision += 1
        let device = device(of: edge)
        switch message {
        case .hello(let hello):
            began(edge, hello.state)
        case .state(let state):
            device.changed(edge, to: state, at: now)
            if state == .background { stopsTyping(edge) }
        case .typing(let conversation, true): types(edge, in: conversation)
        case .typing(let conversation, false), .leave(let conversation):
            device.typing[conversation]?.stopped(on: edge, at: now)
        case .goodbye:
            device.ended(edge, at: now)
            stopsTyping(edge)
        case .token, .watch, .unwatch, .get, .join, .ping: break
        }
    }

    private func began(_ edge: EdgeSession, _ state: DeviceState) {
        let device = device(of: edge)
        let unwritten = world.calm(at: device.machine + [.redis]) - Checks.lag
        var former = device.states(since: unwritten, until: now)
        if world.isUnsettled(at: device.machine) { former.insert(.gone) }
        let isUncertain = world.isUnsettled(at: device.machine + edge.places)
        device.began(edge, state, after: former, isUncertain: isUncertain, at: now)
    }

    func lost(_ edge: EdgeSession) {
        revision += 1
        device(of: edge).lost(edge, graceEnds: now + world.settings.shard.grace, at: now)
        stopsTyping(edge)
    }

    func closed(_ edge: EdgeSession, _ code: CloseCode) {
        switch code {
        case .normal, .replaced: device(of: edge).ended(edge, at: now)
        default: lost(edge)
        }
        stopsTyping(edge)
    }

    // MARK: What befalls workers and Redis

    func died(_ worker: SimulatedWorker) {
        // Its last heartbeat may have been the last before an outage.
        let beat = world.calm(at: worker.places) - world.settings.heartbeat
        gone(worker, judgedFrom: beat + world.settings.lease, until: now + world.settings.judging)
    }

    /// It has left in good order: its lease goes on for the grace of those who are to come back.
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
        // What Redis lost and the worker had not said again by then, nobody says.
        let isForgotten = dataLost.map { $0 >= calm } ?? false
        for device in all {
            device.workerGone(
                worker, unwritten: unwritten, judgedFrom: isForgotten ? now : from, until: until, at: now)
            for conversation in world.conversations {
                device.typing[conversation]?.workerGone(worker, unwritten: unwritten)
            }
        }
    }

    /// - Parameter moment: from when the data are that Redis has now.
    func dataReplaced(asOf moment: Instant) {
        revision += 1
        mayLeaveLists = dataLost != nil
        let isSettled = !world.weather.isUnsettled(at: now, by: [.redis], settling: world.settings.judging)
        dataFrom = isSettled ? moment : min(dataFrom, moment)
        dataLost = now
        for device in all { device.dataReplaced() }
    }

    // MARK: Typing

    private func types(_ edge: EdgeSession, in conversation: ConversationID) {
        let isCertain =
            !world.isUnsettled(at: edge.places) && isMember(edge.user, of: conversation, for: edge) == true
            && edge.view.joined[conversation]?.typists != nil
        let certain = TypingTruth.Certainty(signal: now, known: now + world.settings.shard.typing.throttle)
        device(of: edge).typing[conversation, default: TypingTruth()].signalled(
            on: edge, at: now, expiry: world.settings.shard.typing.expiry, certain: isCertain ? certain : nil)
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

    /// Whether a user may be there, as the worker of `edge` should know; `nil` while the news may be on its way.
    func isMember(_ user: UserID, of conversation: ConversationID, for edge: EdgeSession) -> Bool? {
        guard let members = members[conversation] else { return true }
        if let changed = members.changed[user], changed >= world.calm(at: edge.places) - .seconds(1) { return nil }
        return members.users.contains(user)
    }
}

/// A conversation's members.
struct MembersTruth {
    let users: Set<UserID>
    /// When each last came or went.
    let changed: [UserID: Instant]
}
