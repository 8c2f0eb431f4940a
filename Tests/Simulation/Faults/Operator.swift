// Operators: they disconnect devices, revoke tokens and erase users, as through the admin API.

internal import RedisTwin
internal import RollcallCore
internal import RollcallProtocol

/// Performs an operator's action on a user from time to time.
final class Operator {
    private unowned let world: World
    private let chance: Chance

    private static let look = Duration.milliseconds(50)

    init(_ world: World) {
        self.world = world
        chance = world.faultChance.fork()
    }

    func begin() {
        guard world.settings.usesTokens else { return }
        goOn()
    }

    private func goOn() {
        world.agenda.after(chance.duration(in: .seconds(3)...Duration.seconds(12))) { [self] in
            guard !world.isStill else { return }
            if isRedisThere { act(on: chance.pick(world.users)) }
            goOn()
        }
    }

    private var isRedisThere: Bool { world.redis.isAwake && world.redis.refusal == nil }

    private func act(on user: UserID) {
        switch chance.count(in: 0...9) {
        case 0...3:
            let device = chance.pick([nil, chance.pick(world.settings.devices)])
            world.trace.note("operator", "sends \(user) away")
            sendAway(present(of: user).filter { device == nil || $0.name.device == device }.map(\.name)) {}
        case 4...7:
            revoke(user)
            sendAway(present(of: user).map(\.name)) {}
        default:
            // After an outage, a session that no record names may appear again.
            guard world.weather.isCalm(at: world.agenda.now, settling: world.settings.judging) else { break }
            revoke(user)
            sendAway(present(of: user).map(\.name)) { [self] in erase(user) }
        }
    }

    private func revoke(_ user: UserID) {
        world.trace.note("operator", "revokes the tokens of \(user)")
        world.truth.revoked(user)
        _ = world.redis.change { $0.revokeTokens(of: user) }
    }

    private func erase(_ user: UserID) {
        guard isRedisThere, world.weather.isCalm(at: world.agenda.now, settling: world.settings.judging) else { return }
        world.trace.note("operator", "erases \(user)")
        let dead = world.redis.change { twin in
            Set(twin.record(of: user).incarnations.filter { twin.standing(of: $0).isDead })
        }
        if world.redis.change({ $0.erase(user, dead: dead) }) { world.truth.erased(user) }
    }

    private func present(of user: UserID) -> [(name: SessionName, record: DeviceRecord)] {
        world.redis.change { $0.record(of: user) }.devices.sorted { $0.key < $1.key }.compactMap { device, record in
            guard record.state != nil else { return nil }
            return (SessionName(user: user, device: device, session: record.session), record)
        }
    }

    /// Sends the workers of these sessions the request to end them, until they have.
    private func sendAway(_ sessions: [SessionName], then done: @escaping () -> Void) {
        guard let user = sessions.first?.user else { return done() }
        world.truth.sentAway(sessions)
        guard isRedisThere else { return again(sessions, done) }
        let left = present(of: user).filter { sessions.contains($0.name) }
        let reachable = left.filter { one in !world.redis.change { $0.standing(of: one.record.incarnation) }.isDead }
        guard !reachable.isEmpty else { return done() }
        for (name, record) in reachable {
            let notice = WorkerNotice.sentAway(
                user: user, device: name.device, session: ByteString("\(record.began.milliseconds)-\(record.session)"))
            world.redis.change { $0.published.append(.notice(notice, to: record.incarnation)) }
        }
        again(sessions, done)
    }

    private func again(_ sessions: [SessionName], _ done: @escaping () -> Void) {
        world.agenda.after(Self.look) { [self] in
            guard world.isStill else { return sendAway(sessions, then: done) }
            world.truth.gaveUp(on: sessions)
            done()
        }
    }
}
