// Devices that are only there, as in somebody's pocket: each watches twenty people, drawn at random, and has joined two
// conversations of ten.

import RollcallClient
import RollcallLoad
import RollcallModel

/// What a worker keeps in memory for each; the kernel's part apart.
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

/// What a worker computes to find those that have vanished, at the default ping.
struct IdleProcessor: TargetedWorkload {
    let devices: Int
    let seconds: Double
    var name: String { "\(devices) idle devices: processor time of a server" }
    let unit = "% of a core"
    let target = Target.ratio(1.6)

    func prepare(_ side: Stand.Side) -> (any Measurable)? {
        Pockets(side: side, devices: devices, seconds: seconds)
    }

    /// Anew each round: as many files as the devices of both sides have, a process may not open.
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
    /// How many come for what a device says.
    static let acknowledgements = 2

    static func saying(_ number: Int, of devices: Int) -> [UInt8] {
        let plan = Plan(.idle, devices: devices, duration: .zero)
        return DeviceFrame.message(.hello(.init(token: plan.user(number), device: "phone")))
            + Neighbourhood(plan).entrance(of: number).frames
    }
}
