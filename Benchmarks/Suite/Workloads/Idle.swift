// Devices that are connected and do nothing: each watches 20 random users and has joined two conversations of ten.

import RollcallClient
import RollcallLoad
import RollcallModel

/// The memory of a worker per device, without the kernel's.
struct IdleMemory: TargetedWorkload {
    let devices: Int
    var name: String { "\(devices) idle devices: memory each" }
    let unit = "KiB"
    let target = Target.value(4)

    func prepare(_ side: Stand.Side) -> (any Measurable)? { Pockets(side: side, devices: devices) }

    private struct Pockets: Measurable {
        let side: Stand.Side
        let devices: Int

        func measure() async throws -> Sample {
            let stand = try await Stand(side, servers: 1, settings: nil)
            let before = stand.serverCost.memory
            let guests = try Guests()
            try guests.gather(devices, at: stand, acknowledgements: IdleDevice.acknowledgements) {
                IdleDevice.saying($0, of: devices)
            }
            guests.rest(seconds: 3)
            return Sample(value: (stand.serverCost.memory - before) / Double(devices) / 1_024)
        }
    }
}

/// The processor time of a worker for idle devices, at the default ping interval.
struct IdleProcessor: TargetedWorkload {
    let devices: Int
    let seconds: Double
    var name: String { "\(devices) idle devices: processor time of a server" }
    let unit = "% of a core"
    let target = Target.ratio(1.6)

    func prepare(_ side: Stand.Side) -> (any Measurable)? {
        Pockets(side: side, devices: devices, seconds: seconds)
    }

    /// Prepared for each round: one process cannot open as many files as both sides have devices.
    private struct Pockets: Measurable {
        let side: Stand.Side
        let devices: Int
        let seconds: Double

        func measure() async throws -> Sample {
            let stand = try await Stand(side, servers: 1, settings: nil, floor: ["--ping", "10000"])
            let guests = try Guests()
            try guests.gather(devices, at: stand, acknowledgements: IdleDevice.acknowledgements) {
                IdleDevice.saying($0, of: devices)
            }
            guests.rest(seconds: 3)
            let (before, commands) = (stand.serverCost, try await stand.redisWrites())
            guests.rest(seconds: seconds)
            let writes = Double(try await stand.redisWrites() - commands)
            return Sample(
                value: (stand.serverCost - before).seconds / seconds * 100,
                details: ["writes to Redis a second": writes / seconds])
        }
    }
}

enum IdleDevice {
    /// How many acknowledgements a device receives for what it sends.
    static let acknowledgements = 2

    static func saying(_ number: Int, of devices: Int) -> [UInt8] {
        let plan = Plan(.idle, devices: devices, duration: .zero)
        return DeviceFrame.message(.hello(.init(token: plan.user(number), device: "phone")))
            + Neighbourhood(plan).entrance(of: number).frames
    }
}
