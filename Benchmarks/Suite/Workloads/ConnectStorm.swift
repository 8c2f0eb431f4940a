import RollcallClient
import RollcallLoad
import RollcallModel

/// All devices connect at once, for example after a deployment: the cost of each connection, and what users notice who
/// are already there.
struct ConnectStorm: TargetedWorkload {
    let devices: Int
    var name: String { "a storm of \(devices) connections, presence written and published: CPU of the worker, each" }
    let unit = "ms"
    /// 6,000 per second and core.
    let target = Target.value(1.0 / 6)

    func prepare(_ side: Stand.Side) -> (any Measurable)? {
        side == .rollcall ? Storm(devices: devices) : nil
    }

    private struct Storm: Measurable {
        let devices: Int

        func measure() async throws -> Sample {
            let stand = try await Stand(.rollcall, servers: 1)
            let witness = try Witness(stand)
            let start = now()
            let before = stand.serverCost
            let guests = try Guests()
            try guests.gather(devices, at: stand, acknowledgements: 1) { number in
                DeviceFrame.message(.hello(.init(token: "guest\(number)", device: "phone")), id: .integer(1))
            }
            let (took, cost) = (now() - start, stand.serverCost - before)
            let latencies = try await witness.end()
            return Sample(
                value: cost.seconds / Double(devices) * 1_000,
                details: [
                    "connections a second": Double(devices) / took,
                    "a witness's p50, ms": percentile(0.5, of: latencies) * 1_000,
                    "p99": percentile(0.99, of: latencies) * 1_000,
                ])
        }
    }
}
