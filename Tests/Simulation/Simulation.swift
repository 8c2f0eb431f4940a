// One run with one seed.

internal import RollcallCore
internal import RollcallProtocol

/// The result of a run.
public struct Outcome: Sendable {
    public let seed: UInt64
    /// The first broken promise; `nil` if all were kept.
    public fileprivate(set) var violation: Violation?
    /// How often each limit took effect.
    public let bounds: BoundCounts
    /// The number of devices that ran the real client.
    public let clients: Int
    /// The trace, if it was requested.
    public let trace: [String]
}

/// Simulates many workers, devices and observers with one Redis in memory, and the faults that a seed draws.
public struct Simulation: Sendable {
    private let planted: PlantedBug?
    private let stepsClock: Bool

    /// - Parameter stepsClock: whether Redis's clock is set from time to time.
    public init(planted: PlantedBug? = nil, stepsClock: Bool = false) {
        self.planted = planted
        self.stepsClock = stepsClock
    }

    /// Runs a seed until its end or the first broken promise. No session stays in memory after its end.
    public func run(seed: UInt64, isTraced: Bool = false) -> Outcome {
        var (outcome, sessions) = play(seed, isTraced: isTraced)
        let left = sessions.count { $0.session?.isOver == true }
        if outcome.violation == nil, left > 0 {
            outcome.violation = Violation(
                promise: "nothing left behind", what: "\(left) sessions stay in memory after their end", at: "the end")
        }
        return outcome
    }

    private func play(_ seed: UInt64, isTraced: Bool) -> (Outcome, [LivingSession]) {
        let chance = Chance(seed: seed)
        var settings = SimulationSettings(drawnBy: chance.fork(), stepsClock: stepsClock)
        settings.plant(planted)
        let world = World(settings, chance, isTraced: isTraced)
        defer { world.end() }
        world.play()
        let outcome = Outcome(
            seed: seed, violation: world.checks.violation, bounds: world.bounds, clients: world.clients.count,
            trace: world.trace.lines)
        return (outcome, world.sessions)
    }
}

/// A session of a shard, which nothing here keeps.
struct LivingSession {
    weak var session: Session?
    let shard: ObjectIdentifier
}

extension World {
    /// The phases of a run: faults while users are active; no faults; no activity; the end.
    fileprivate func play() {
        for place in places { startWorker(at: place) }
        for device in devices { DeviceUser(device, in: self).live() }
        if settings.visits {
            for case let device as SimulatedDevice in devices { Visitor(device, in: self).live() }
            bridge.begin()
        }
        Backend(self).begin()
        app?.begin()
        Operator(self).begin()
        checks.watch()
        consumer.begin()
        let faults = Faults(in: self, until: moment(28))
        faults.plan(from: moment(3))
        run(until: moment(30))
        isStill = true
        settle()
        beStill(for: .seconds(3))
        leave()
    }

    /// Waits until the last event has had its last consequence. A device may still have to detect that its connection
    /// is lost, and messages may be queued, since devices and workers limit the message rate. What takes longer than a
    /// minute is stuck, and the checks find it.
    private func settle() {
        let longest = agenda.now + .seconds(60)
        var settled = agenda.now + settings.settled
        while checks.violation == nil, agenda.now < settled {
            run(until: min(settled, agenda.now + .seconds(1)))
            if !isAtRest, agenda.now < longest { settled = agenda.now + settings.settled }
        }
    }

    private var isAtRest: Bool {
        devices.allSatisfy(\.isAtRest) && !observers.contains(where: \.hasMoreToBeTaken)
    }

    private func beStill(for duration: Duration) {
        guard checks.violation == nil else { return }
        let before = redis.executed
        let sent = clients.map(\.sent)
        // Each refused conversation is joined again at most once in two seconds.
        let joins = Int((duration / .seconds(2)).rounded(.up))
        let rejoins = clients.map { $0.refusals * joins }
        run(until: agenda.now + duration)
        // A device whose token has just expired comes back with a fresh one: that is not nothing, until what its former session had
        // entered is off its list.
        let isOver = checks.lastHello + settings.shard.grace + settings.lease < agenda.now - duration
        if isOver { checks.checkIdle(since: before, rejoins: rejoins.reduce(0, +)) }
        checks.checkRecords()
        checks.checkHere()
        consumer.check()
        checks.checkFollowed()
        checks.checkClientsRest(since: sent, rejoins: rejoins)
    }

    /// All devices send `goodbye`, and all workers but one shut down in order.
    private func leave() {
        for device in devices { device.goodbye() }
        run(until: agenda.now + .seconds(1))
        for place in places.dropFirst() { place.worker?.drain() }
        run(until: agenda.now + settings.settled)
        if checks.violation == nil { checks.checkNothingIsLeft() }
        consumer.check()
    }

    private func run(until end: Instant) {
        agenda.run(until: end) { checks.violation != nil }
    }

    private func moment(_ second: Int) -> Instant { Instant(nanoseconds: 0) + .seconds(second) }
}
