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
    private(set) var devices: [DeviceName: DeviceTruth] = [:]
    private(set) var typing: [ConversationID: [DeviceName: TypingTruth]] = [:]
    private(set) var members: [ConversationID: MembersTruth] = [:]
    /// When Redis last lost data, or had older ones.
    private(set) var dataLost: Instant?

    private unowned let world: World

    init(_ world: World) {
        self.world = world
        for device in world.names { devices[device] = DeviceTruth() }
    }

    private var now: Instant { world.agenda.now }

    func devices(of user: UserID) -> [(DeviceName, DeviceTruth)] {
        world.names.filter { $0.user == user }.map { ($0, devices[$0]!) }
    }

    /// The machine that answers for a device, if there is one.
    func machine(of name: DeviceName) -> [Weather.Place] {
        devices[name]?.machine.map { [.machine($0)] } ?? []
    }

    func typing(of user: UserID, in conversation: ConversationID) -> [(DeviceName, TypingTruth)] {
        world.names.filter { $0.user == user }.compactMap { name in
            typing[conversation]?[name].map { (name, $0) }
        }
    }

    // MARK: What workers hear of devices

    func received(_ message: ClientMessage, on edge: EdgeSession) {
        switch message {
        case .hello(let hello): devices[edge.deviceName]?.began(edge, hello.state, at: now)
        case .state(let state):
            devices[edge.deviceName]?.changed(edge, to: state, at: now)
            if state == .background { stopsTyping(edge) }
        case .typing(let conversation, true): types(edge, in: conversation)
        case .typing(let conversation, false), .leave(let conversation): stopsTyping(edge, in: conversation)
        case .goodbye:
            devices[edge.deviceName]?.ended(edge, at: now)
            stopsTyping(edge)
        case .token, .watch, .unwatch, .get, .join, .ping: break
        }
    }

    func lost(_ edge: EdgeSession) {
        devices[edge.deviceName]?.lost(edge, graceEnds: now + world.settings.shard.grace, at: now)
        stopsTyping(edge)
    }

    func closed(_ edge: EdgeSession, _ code: CloseCode) {
        switch code {
        case .normal, .replaced: devices[edge.deviceName]?.ended(edge, at: now)
        default: lost(edge)
        }
        stopsTyping(edge)
    }

    // MARK: What befalls workers and Redis

    func died(_ worker: SimulatedWorker) {
        let lease = world.settings.lease
        gone(worker, judgedFrom: now + lease - world.settings.heartbeat, until: now + lease + .seconds(2))
    }

    /// It has left in good order: its lease goes on for the grace of those who are to come back.
    func exited(_ worker: SimulatedWorker) {
        let until = now + max(world.settings.lease, world.settings.shard.grace) + .seconds(2)
        let ended = world.isUnsettled(at: [.redis, .machine(worker.place)]) ? now : now + world.settings.shard.grace
        gone(worker, judgedFrom: ended, until: until)
    }

    private func gone(_ worker: SimulatedWorker, judgedFrom from: Instant, until: Instant) {
        let unwritten = world.calm(at: [.redis, .machine(worker.place)])
        for name in world.names {
            devices[name]?.workerGone(worker, unwritten: unwritten, judgedFrom: from, until: until, at: now)
        }
    }

    func dataReplaced() {
        dataLost = now
        for name in world.names { devices[name]?.dataReplaced() }
    }

    // MARK: Typing

    private func types(_ edge: EdgeSession, in conversation: ConversationID) {
        guard isMember(edge.user, of: conversation) != false else { return }
        let places: [Weather.Place] = [.redis, .machine(edge.worker.place)]
        let isCertain =
            !world.isUnsettled(at: places) && isMember(edge.user, of: conversation) == true
            && edge.view.joined[conversation]?.typists != nil
        // One that comes soon after another may be deferred.
        typing[conversation, default: [:]][edge.deviceName, default: TypingTruth()].signalled(
            on: edge, at: now, expiry: world.settings.shard.typing.expiry,
            certain: isCertain ? now + world.settings.shard.typing.throttle : nil)
    }

    private func stopsTyping(_ edge: EdgeSession) {
        for conversation in world.conversations { stopsTyping(edge, in: conversation) }
    }

    private func stopsTyping(_ edge: EdgeSession, in conversation: ConversationID) {
        typing[conversation]?[edge.deviceName]?.stopped(on: edge, at: now)
    }

    // MARK: Members

    func membersSet(_ users: Set<UserID>, of conversation: ConversationID) {
        var changed = members[conversation]?.changed ?? [:]
        for user in world.users where members[conversation]?.users.contains(user) ?? true != users.contains(user) {
            changed[user] = now
        }
        members[conversation] = MembersTruth(users: users, changed: changed)
        for name in world.names where !users.contains(name.user) {
            typing[conversation]?[name]?.stopped(at: now)
        }
    }

    /// Whether a user may be there; `nil` while the news may be on its way.
    func isMember(_ user: UserID, of conversation: ConversationID) -> Bool? {
        guard let members = members[conversation] else { return true }
        if let changed = members.changed[user], changed >= world.calm(at: [.redis]) - .seconds(1) { return nil }
        return members.users.contains(user)
    }
}

/// A conversation's members.
struct MembersTruth {
    let users: Set<UserID>
    /// When each last came or went.
    let changed: [UserID: Instant]
}

extension EdgeSession {
    var deviceName: DeviceName { DeviceName(user: user, device: device) }
}
