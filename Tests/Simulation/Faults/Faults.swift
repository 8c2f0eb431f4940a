// Causes faults, one after another and overlapping, until all of them end.

internal import RedisTwin
internal import RollcallCore

/// The faults of one run.
final class Faults {
    let world: World
    private let chance: Chance
    /// When the last fault ends.
    private let end: Instant
    /// Whether Redis has a fault; it has one at a time.
    private var isRedisIll = false

    init(in world: World, until end: Instant) {
        self.world = world
        self.end = end
        chance = world.faultChance
    }

    /// Draws the faults and their times.
    func plan(from begin: Instant) {
        for _ in 0..<chance.count(in: 1...8) {
            let moment = begin + chance.duration(in: .zero...(end - begin))
            let fault = Fault.drawn(
                by: chance, places: world.places.count, devices: world.devices.count,
                stepsClock: world.settings.stepsClock)
            var copy: RedisServer.Copy?
            if case .redisGone(_, let age?) = fault {
                world.agenda.at(moment - age) { [unowned world] in copy = world.redis.copy }
            }
            world.agenda.at(moment) { [self] in happen(fault, copy) }
        }
        if chance.happens(0.25) {
            let (fault, times, pause) = Fault.repeating(drawnBy: chance, lease: world.settings.lease)
            let first = begin + chance.duration(in: .zero...Duration.seconds(10))
            for time in 0..<times where first + pause * time < end {
                world.agenda.at(first + pause * time) { [self] in
                    var data: RedisServer.Copy?
                    if case .redisGone(_, _?) = fault { data = world.redis.copy }
                    happen(fault, data)
                }
            }
        }
        if chance.happens(0.25) {
            let late = chance.duration(in: .milliseconds(50)...world.settings.longestAnswer)
            let moment = begin + chance.duration(in: .zero...(end - begin))
            let fault = Fault.redisLate(late, chance.duration(in: .seconds(3)...Duration.seconds(20)))
            world.agenda.at(moment) { [self] in happen(fault, nil) }
        }
    }

    private func happen(_ fault: Fault, _ data: RedisServer.Copy?) {
        world.trace.note("FAULT", "\(fault)")
        switch fault {
        case .kill(let place, let away, let pause):
            kill(world.places[place], away: away, holdingBackFor: min(pause, end - world.agenda.now))
        case .killAll(let away):
            for place in world.places { kill(place, away: away, holdingBackFor: .zero) }
        case .stall(let place, let duration): stall(world.places[place], duration)
        case .drain(let place, let away): drain(world.places[place], away: away)
        case .hold(let place, let links, let direction, let duration):
            hold(routes(of: place, links).flatMap { direction.paths(of: $0) }, at: place, duration)
        case .slow(let place, let links, let duration):
            slow(routes(of: place, links).flatMap(\.paths), at: place, duration)
        case .deviceHeld(let device, let direction, let duration):
            hold(direction.paths(of: world.devices[device].route), duration)
        case .cut(let place, let links, let isSilent): cut(world.places[place], links, silently: isSilent)
        case .redisLate(let late, let duration):
            world.redis.lateness = late
            world.agenda.at(min(world.agenda.now + duration, end)) { [world] in world.redis.lateness = .zero }
            // Until its last late answer has come.
            outage(at: .redis, isLateness: true, duration + late) {}
        case .redisGone, .clockStepped, .redisAsleep, .flush, .refusal, .clientsKilled: happenToRedis(fault, data)
        }
    }

    /// Causes an outage at a place, which ends with the last fault at the latest.
    ///
    /// - Parameter isLateness: whether all goes on, only later.
    private func outage(
        at place: Weather.Place, isLateness: Bool = false, _ duration: Duration, then over: @escaping () -> Void
    ) {
        let spell = world.outageBegins(at: place, isLateness: isLateness)
        let last = isLateness ? end + world.redis.lateness : end
        world.agenda.at(min(world.agenda.now + duration, last)) { [world] in
            over()
            world.outageEnds(spell)
        }
    }

    // MARK: Workers

    private func kill(_ place: Place, away: Duration, holdingBackFor pause: Duration) {
        place.worker?.kill(holdingBackFor: pause)
        restart(place, after: away)
    }

    private func restart(_ place: Place, after away: Duration) {
        world.agenda.at(min(world.agenda.now + away, end)) { [world] in world.startWorker(at: place) }
    }

    private func stall(_ place: Place, _ duration: Duration) {
        guard let process = place.worker?.process, process.isRunning else { return }
        process.stop()
        outage(at: .machine(place.index), duration) { [world] in
            world.trace.note(place.id, "goes on")
            process.resume()
        }
    }

    private func drain(_ place: Place, away: Duration) {
        guard let worker = place.worker, worker.process.isRunning else { return }
        worker.onExit = { [self, unowned worker] in
            worker.onExit = {}
            restart(place, after: away)
        }
        worker.drain()
    }

    // MARK: The network

    private func routes(of place: Int, _ links: Fault.Links) -> [Route] {
        world.places[place].routes.flatMap { routes in
            switch links {
            case .commands: [routes.commands]
            case .messages: [routes.messages]
            case .both: [routes.commands, routes.messages]
            }
        }
    }

    private func hold(_ paths: [Path], at place: Int, _ duration: Duration) {
        for path in paths { path.hold() }
        outage(at: .machine(place), duration) { for path in paths { path.release() } }
    }

    /// The device's connection itself tracks what this delays.
    private func hold(_ paths: [Path], _ duration: Duration) {
        for path in paths { path.hold() }
        world.agenda.at(min(world.agenda.now + duration, end)) { for path in paths { path.release() } }
    }

    private func slow(_ paths: [Path], at place: Int, _ duration: Duration) {
        for path in paths { path.delay = Path.slow }
        outage(at: .machine(place), duration) { for path in paths { path.delay = Path.near } }
    }

    /// If only Redis drops a connection, the outage lasts until the worker has noticed.
    private func cut(_ place: Place, _ links: Fault.Links, silently isSilent: Bool) {
        guard let worker = place.worker else { return }
        let isMeant = { (session: RedisSession) in
            session.client.hasPrefix("\(worker.name).") && links.include(session)
        }
        guard isSilent else {
            outage(at: .machine(place.index), .zero) {}
            return world.redis.dropConnections(where: isMeant)
        }
        world.redis.forgetConnections(where: isMeant) {
            let spell = world.outageBegins(at: .machine(place.index))
            return { [unowned world] in world.outageEnds(spell) }
        }
    }

    // MARK: Redis

    private func happenToRedis(_ fault: Fault, _ data: RedisServer.Copy?) {
        guard !isRedisIll else { return }
        switch fault {
        case .redisGone(let duration, _):
            world.redis.stop()
            redisOutage(duration) { $0.start(with: data) }
        case .clockStepped(let step, nil):
            stepClock(by: step)
        case .clockStepped(let step, let away?):
            world.redis.stop()
            redisOutage(away) { [self] in
                $0.start(with: $0.copy)
                stepClock(by: step)
            }
        case .redisAsleep(let duration):
            world.redis.sleep()
            redisOutage(duration) { $0.wake() }
        case .refusal(let refusal, let duration):
            world.redis.refusal = refusal
            redisOutage(duration) { $0.refusal = nil }
        case .flush:
            // Workers notice only with the next heartbeat.
            world.redis.replaceData(with: nil)
            redisOutage(world.settings.heartbeat) { _ in }
        case .clientsKilled(let links):
            redisOutage(.zero) { $0.dropConnections { links.include($0) } }
        case .kill, .killAll, .stall, .drain, .hold, .slow, .deviceHeld, .cut, .redisLate: break
        }
    }

    /// A step counts as an outage: everything heals within one lease and one `typing.expiry`.
    private func stepClock(by step: Duration) {
        world.redis.stepClock(by: step)
        redisOutage(max(world.settings.judging, world.settings.shard.typing.expiry)) { _ in }
    }

    private func redisOutage(_ duration: Duration, then over: @escaping (RedisServer) -> Void) {
        isRedisIll = true
        outage(at: .redis, duration) { [self] in
            isRedisIll = false
            world.trace.note("redis", "is well again")
            over(world.redis)
        }
    }
}

extension Fault.Links {
    fileprivate func include(_ session: RedisSession) -> Bool {
        switch self {
        case .commands: !session.isSubscriber
        case .messages: session.isSubscriber
        case .both: true
        }
    }
}

extension Fault.Direction {
    fileprivate func paths(of route: Route) -> [Path] {
        switch self {
        case .up: [route.up]
        case .down: [route.down]
        case .both: route.paths
        }
    }
}
