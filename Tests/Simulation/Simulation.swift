// One run from one seed.

internal import RollcallCore
internal import RollcallModel

/// What became of a run.
public struct Outcome: Sendable {
    public let seed: UInt64
    /// The first broken promise; `nil` if all were kept.
    public let violation: Violation?
    /// The story, if it was asked for.
    public let trace: [String]
}

/// Many workers, devices and observers against one Redis in memory, with whatever a seed lets befall them.
public struct Simulation: Sendable {
    private let planted: PlantedBug?

    public init(planted: PlantedBug? = nil) {
        self.planted = planted
    }

    /// Plays a seed, until its end or the first broken promise.
    public func run(seed: UInt64, isTraced: Bool = false) -> Outcome {
        var settings = SimulationSettings()
        settings.planted = planted
        let world = World(settings, seed: seed, isTraced: isTraced)
        defer { world.end() }
        world.play()
        return Outcome(seed: seed, violation: world.checks.violation, trace: world.trace.lines)
    }
}

extension World {
    fileprivate func play() {
        for place in places { startWorker(at: place) }
        for device in devices { Person(device, in: self).live() }
        checks.watch()
        agenda.run(until: Instant(nanoseconds: 0) + .seconds(30)) { checks.violation != nil }
    }
}
