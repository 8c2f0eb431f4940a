// As many signals as a worker accepts, from many users in many rooms, each with several in flight. Redis should be the
// limit; the floor is the same script called from C.

import Foundation
import Harness
import RollcallClient
import RollcallLoad
import RollcallModel
import RollcallRedis
import TestSupport

/// The time per signal at the maximum rate.
struct Signals: TargetedWorkload {
    /// How many signals are in flight in each room.
    static let outstanding = 4

    var rooms = 200
    let count: Int
    let name = "signals as fast as they are taken, through one worker: time each"
    let unit = "µs"
    /// At least 80 % of the floor's rate.
    let target = Target.ratio(1.25)

    func prepare(_ side: Stand.Side) async throws -> (any Measurable)? {
        let stand = try await Stand(side, servers: 1)
        switch side {
        case .floor: return Pipeline(stand: stand, rooms: rooms, count: count)
        case .rollcall:
            return Typists(stand: stand, typists: try Typing(at: stand.addresses, rooms: rooms), count: count)
        }
    }

    private struct Pipeline: Measurable {
        let stand: Stand
        let rooms: Int
        let count: Int

        func measure() async throws -> Sample {
            let script = stand.redis.folder.appending(path: "typing_signal.lua")
            guard let source = Script.all.first(where: { $0.name == "typing_signal" })?.source else {
                throw BenchFailure("there is no script of that name")
            }
            try source.write(to: script, atomically: true, encoding: .utf8)
            let before = stand.redisCost
            let floor = try ChildProcess([
                RollcallProgram.path(of: "floor"), "scripts", "--redis", "\(stand.redis.port)", "--script", script.path,
                "--rooms", "\(rooms)", "--count", "\(count)",
            ])
            try await floor.exitCode(within: .seconds(120))
            try await eventually("the floor's figures are read") { floor.outputEnded }
            guard let match = floor.output.firstMatch(of: #/"seconds":([0-9.]+)/#), let seconds = Double(match.1) else {
                throw BenchFailure("the floor says \(floor.output)\(floor.errors)")
            }
            return Sample(
                value: seconds / Double(count) * 1e6,
                details: ["Redis, µs": (stand.redisCost - before).seconds / Double(count) * 1e6])
        }
    }

    private struct Typists: Measurable {
        let stand: Stand
        let typists: Typing
        let count: Int

        func measure() throws -> Sample {
            let (start, redis, server) = (now(), stand.redisCost, stand.serverCost)
            try typists.signal(count)
            let each = 1e6 / Double(count)
            return Sample(
                value: (now() - start) * each,
                details: [
                    "Redis, µs": (stand.redisCost - redis).seconds * each,
                    "worker, µs": (stand.serverCost - server).seconds * each,
                ])
        }
    }
}
