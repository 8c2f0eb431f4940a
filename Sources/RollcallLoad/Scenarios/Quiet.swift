// Scenarios in which devices only connect.

/// Devices that are connected, and answer pings.
struct Idle: Scenario {
    private let neighbourhood: Neighbourhood

    init(_ plan: Plan) {
        neighbourhood = Neighbourhood(plan)
    }

    func entrance(of device: Int, _ plan: Plan) -> (frames: [UInt8], acknowledgements: Int) {
        neighbourhood.entrance(of: device)
    }
}

/// Devices that connect, each at its time.
struct Storm: Scenario {
    var gathers: Bool { false }

    mutating func began(_ stage: inout Stage) {
        for device in 0..<stage.plan.count {
            stage.come(device, at: stage.now + stage.plan.delay(of: device))
        }
    }
}

/// Devices like those of ``Idle``. After a third of the time all connections are cut at once, unless something else is
/// to end them (``Plan/cuts``).
struct Reconnect: Scenario {
    private let neighbourhood: Neighbourhood

    init(_ plan: Plan) {
        neighbourhood = Neighbourhood(plan)
    }

    func entrance(of device: Int, _ plan: Plan) -> (frames: [UInt8], acknowledgements: Int) {
        neighbourhood.entrance(of: device)
    }

    mutating func began(_ stage: inout Stage) {
        guard stage.plan.cuts else { return }
        for device in 0..<stage.plan.count { stage.schedule(.cut, device, at: stage.now + stage.plan.duration / 3) }
    }
}

extension Plan {
    /// How long after the first device this one connects.
    func delay(of device: Int) -> Duration {
        rate.map { .seconds(1) * (Double(device) / $0) } ?? .zero
    }
}
