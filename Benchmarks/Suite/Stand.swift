// One side of a comparison: its own Redis, and its servers, which are Rollcall's workers or the floor's.

import Foundation
import Harness
import RollcallLoad
import TestSupport

/// Servers for devices to connect to. They end with this value.
struct Stand {
    /// The two sides of a comparison.
    enum Side: String, CaseIterable, Encodable {
        case floor, rollcall
    }

    let side: Side
    let redis: RedisServer
    let servers: [ChildProcess]
    /// The address of each server.
    let addresses: [Crowd.Address]
    /// The admin port of each worker.
    let adminPorts: [Int]

    /// Settings without limits or delays, since the floor has none.
    static let unbounded = [
        "typing.throttle": "0s", "typing.coalesce": "0s", "limits.message_rate": "100000",
        "limits.message_burst": "1000000", "log.level": "warning",
    ]

    /// - Parameters:
    ///   - settings: settings of the workers, in addition to ``unbounded``; `nil` for the defaults only.
    ///   - floor: further arguments for the floor's servers.
    init(
        _ side: Side, servers count: Int, settings: [String: String]? = [:], floor: [String] = []
    ) async throws {
        self.side = side
        let redis = try await RedisServer()
        self.redis = redis
        var (servers, addresses, adminPorts) = ([ChildProcess](), [Crowd.Address](), [Int]())
        for number in 1...count {
            switch side {
            case .floor:
                let server = try ChildProcess(
                    [RollcallProgram.path(of: "floor"), "room", "--redis", "\(redis.port)"] + floor)
                addresses.append(try Crowd.Address(port: try await Self.port(of: server)))
                servers.append(server)
            case .rollcall:
                let own = settings.map { Self.unbounded.merging($0) { $1 } } ?? ["log.level": "warning"]
                let worker = try await WorkerProcess("w\(number)", redis: redis.url, settings: own)
                addresses.append(try Crowd.Address(port: worker.port))
                servers.append(worker.process)
                adminPorts.append(worker.adminPort)
            }
        }
        (self.servers, self.addresses, self.adminPorts) = (servers, addresses, adminPorts)
    }

    private static func port(of floor: ChildProcess) async throws -> Int {
        try await eventually("the floor is ready") {
            guard floor.isRunning else { throw BenchFailure("the floor ended: \(floor.errors)") }
            return floor.output.contains("\n")
        }
        guard let match = floor.output.firstMatch(of: #/ws://127.0.0.1:(\d+)/#), let port = Int(match.1) else {
            throw BenchFailure("the floor says \(floor.output)")
        }
        return port
    }

    /// The cost of all processes so far.
    var cost: Cost { serverCost + redisCost }

    /// The cost of Redis alone.
    var redisCost: Cost { Cost(of: redis.process.pid) }

    /// The cost without Redis.
    var serverCost: Cost { servers.map { Cost(of: $0.pid) }.reduce(.none, +) }

    /// The number of write commands that Redis has processed, including those of heartbeats.
    func redisWrites() async throws -> Int {
        let statistics = try await redis.cli("info", "commandstats")
        return statistics.matches(
            of: #/cmdstat_(?:set|del|hset|hdel|zadd|zrem|sadd|srem|pexpire|pexpireat):calls=(\d+)/#
        )
        .reduce(0) { $0 + (Int($1.1) ?? 0) }
    }
}
