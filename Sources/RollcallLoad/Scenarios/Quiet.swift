// Devices that do nothing of their own.

/// They are there, and answer pings.
struct Idle: Scenario {
    private let neighbourhood: Neighbourhood

    init(_ plan: Plan) {
        neighbourhood = Neighbourhood(plan)
    }

    func entrance(of device: Int, _ plan: Plan) -> (frames: [UInt8], acknowledgements: Int) {
        neighbourhood.entrance(of: device)
    }
}

/// They connect, each at its moment.
struct Storm: Scenario {
    var gathers: Bool { false }

    mutating func began(_ stage: inout Stage) {
        for device in 0..<stage.plan.count {
            stage.come(device, at: stage.now + stage.plan.delay(of: device))
        }
    }
}

/// They are there as the idle are; then, a third of the time over, all connections are cut at once, unless it is somebody
/// else who sees to it that they end.
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
    /// When a device is to connect, after the first.
    func delay(of device: Int) -> Duration {
        rate.map { .seconds(1) * (Double(device) / $0) } ?? .zero
    }
}
