// The faults of the simulation.

internal import RollcallCore

/// A fault of the deployment.
enum Fault: Hashable {
    enum Links: CaseIterable { case commands, messages, both }
    enum Direction: CaseIterable { case up, down, both }

    /// A worker's process is killed and restarted after a while.
    case kill(place: Int, away: Duration, lastWordsHeldBackFor: Duration)
    /// All workers are killed.
    case killAll(away: Duration)
    /// `SIGSTOP`, and `SIGCONT` after a while.
    case stall(place: Int, Duration)
    /// `SIGTERM`; the next worker starts after a while.
    case drain(place: Int, away: Duration)
    /// Nothing passes between a worker and Redis for a while; messages sent meanwhile then arrive.
    case hold(place: Int, Links, Direction, Duration)
    case slow(place: Int, Links, Duration)
    /// Nothing passes between a device and its worker for a while.
    case deviceHeld(Int, Direction, Duration)
    /// Connections are reset or, silently, dropped by Redis alone.
    case cut(place: Int, Links, silently: Bool)
    /// Redis is down for a while, and returns with its data of `age` ago or, if `nil`, with none.
    case redisGone(Duration, dataOfAge: Duration?)
    /// Redis's clock is set forward or back, possibly while its process is down, as in a failover.
    case clockStepped(Duration, away: Duration?)
    /// Redis does nothing for a while.
    case redisAsleep(Duration)
    /// Each answer of Redis comes that much later, for a while.
    case redisLate(Duration, Duration)
    /// `FLUSHALL`.
    case flush
    case refusal(RedisCommand.Refusal, Duration)
    /// Redis closes all client connections of a kind.
    case clientsKilled(Links)
}

extension Fault {
    /// Draws a fault.
    static func drawn(by chance: Chance, places: Int, devices: Int, stepsClock: Bool) -> Fault {
        let place = chance.count(in: 0...places - 1)
        let while_ = chance.duration(in: chance.pick(spans))
        switch chance.count(in: 0...(stepsClock ? 19 : 17)) {
        case 0, 1:
            let heldBack = chance.happens(0.3) ? chance.duration(in: .seconds(1)...Duration.seconds(20)) : .zero
            return .kill(place: place, away: while_, lastWordsHeldBackFor: heldBack)
        case 2: return .killAll(away: while_)
        case 3, 4: return .stall(place: place, while_)
        case 5, 6: return .drain(place: place, away: while_)
        case 7, 8: return .hold(place: place, chance.pick(Links.allCases), chance.pick(Direction.allCases), while_)
        case 9: return .slow(place: place, chance.pick(Links.allCases), while_)
        case 10: return .cut(place: place, chance.pick(Links.allCases), silently: chance.happens(0.3))
        case 11:
            let age = chance.duration(in: chance.pick(spans))
            return .redisGone(while_, dataOfAge: chance.pick([nil, .zero, age, age]))
        case 12: return .redisAsleep(while_)
        case 13: return .flush
        case 14:
            let lasting = chance.happens(0.3) ? chance.duration(in: .seconds(8)...Duration.seconds(20)) : while_
            return .refusal(chance.pick(RedisCommand.Refusal.allCases), lasting)
        case 15, 16:
            let device = chance.count(in: 0...devices - 1)
            return .deviceHeld(device, chance.pick(Direction.allCases), while_)
        case 17: return .clientsKilled(chance.pick(Links.allCases))
        default:
            let step = chance.duration(in: chance.pick(steps))
            return .clockStepped(chance.happens(0.5) ? step : .zero - step, away: chance.pick([nil, while_]))
        }
    }

    /// Draws faults of Redis that come again every few seconds, such as those of a server that a supervisor restarts.
    /// Between them is just not enough time for one to settle, or some.
    static func repeating(drawnBy chance: Chance, lease: Duration) -> (fault: Fault, times: Int, every: Duration) {
        let longest = chance.pick([.milliseconds(300), lease + .seconds(1)])
        let while_ = chance.duration(in: .milliseconds(20)...longest)
        let between = chance.duration(
            in: chance.pick([.milliseconds(400)...Duration.milliseconds(1980), lease * 0.9...lease * 0.99]))
        let faults: [Fault] = [
            .clientsKilled(.both), .clientsKilled(.commands), .redisAsleep(while_),
            .redisGone(while_, dataOfAge: .zero), .redisGone(while_, dataOfAge: nil),
            .refusal(.noWrites, while_), .refusal(.everything, while_),
        ]
        let fault = chance.pick(faults)
        let lasting = if case .clientsKilled = fault { Duration.zero } else { while_ }
        return (fault, chance.count(in: 3...8), lasting + between)
    }

    /// As much as clocks usually differ, less than a lease, minutes, and hours.
    private static let steps: [ClosedRange<Duration>] = [
        .milliseconds(50)...Duration.milliseconds(800), .milliseconds(800)...Duration.seconds(10),
        .seconds(10)...Duration.seconds(900), .seconds(3600)...Duration.seconds(36_000),
    ]

    /// Hardly any time, less than a lease, and longer.
    private static let spans: [ClosedRange<Duration>] = [
        .milliseconds(20)...Duration.milliseconds(500), .milliseconds(500)...Duration.seconds(3),
        .seconds(3)...Duration.seconds(5), .seconds(5)...Duration.seconds(9),
    ]
}
