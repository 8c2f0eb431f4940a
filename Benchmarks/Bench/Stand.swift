// One side of a comparison: its own Redis, and its servers, which are Rollcall's workers or the floor.

import Foundation
import Harness
import TestSupport

/// Servers for devices to connect to. They end with this value.
struct Stand {
    /// What is compared.
    enum Side: Hashable {
        case floor
        case worker(program: String)
    }

    let redis: RedisServer
    private let servers: [ChildProcess]
    /// Where devices connect.
    let ports: [Int]

    /// Settings without limits or delays, since the floor has none, and without pings: the devices of one side do not
    /// answer while another side is measured.
    static let unbounded = [
        "typing.throttle": "0s", "typing.coalesce": "0s", "presence.coalesce": "0", "limits.message_rate": "100000",
        "limits.message_burst": "1000000", "limits.watched_users": "100000", "edge.ping": "600s",
        "log.level": "warning",
    ]

    /// - Parameters:
    ///   - settings: the settings of workers.
    ///   - ping: how often the floor pings each device, in milliseconds.
    init(
        _ side: Side, servers count: Int = 1, settings: [String: String] = unbounded, ping: Int = 0
    ) async throws {
        redis = try await RedisServer()
        var (servers, ports) = ([ChildProcess](), [Int]())
        for number in 1...count {
            switch side {
            case .floor:
                let floor = try ChildProcess(
                    [Self.floor, "room", "--redis", "\(redis.port)", "--ping", "\(ping)"])
                try await eventually("the floor is ready") { floor.output.contains("\n") || !floor.isRunning }
                guard let match = floor.output.firstMatch(of: #/ws://127.0.0.1:(\d+)/#), let port = Int(match.1) else {
                    throw BenchFailure("the floor says \(floor.output)\(floor.errors)")
                }
                servers.append(floor)
                ports.append(port)
            case .worker(let program):
                let worker = try await WorkerProcess(
                    "w\(number)", redis: redis.url, settings: settings, program: program)
                servers.append(worker.process)
                ports.append(worker.port)
            }
        }
        (self.servers, self.ports) = (servers, ports)
    }

    private static let floor = RollcallProgram.path(of: "floor")

    /// Runs the floor's program to its end, and returns the numbers that it prints.
    func floor(_ arguments: String...) async throws -> [Double] {
        let floor = try ChildProcess([Self.floor] + arguments + ["--redis", "\(redis.port)"])
        guard try await floor.exitCode(within: .seconds(120)) == 0 else { throw BenchFailure(floor.errors) }
        try await eventually("the floor's figures are read") { floor.outputEnded }
        return floor.output.split(separator: "\n").compactMap { Double($0) }
    }

    /// Processor time so far, of the servers and of Redis, in seconds.
    var cost: (servers: Double, redis: Double) {
        (servers.map { Self.seconds(of: $0.pid) }.reduce(0, +), Self.seconds(of: redis.process.pid))
    }

    /// Resident memory of the servers in bytes, without the kernel's for their sockets.
    var memory: Double {
        servers.map { server in
            let match = Self.text(server.pid, "status").firstMatch(of: #/VmRSS:\s+(\d+) kB/#)
            return (match.flatMap { Double($0.1) } ?? 0) * 1_024
        }.reduce(0, +)
    }

    /// Processor time of a process, user and kernel, with a resolution of 10 ms.
    private static func seconds(of pid: Int32) -> Double {
        // The name is in parentheses and may contain spaces. User and system time are the 12th and 13th words after it.
        let words = text(pid, "stat").split(separator: ")").last?.split(separator: " ") ?? []
        return words.dropFirst(11).prefix(2).compactMap { Double($0) }.reduce(0, +) / 100
    }

    private static func text(_ pid: Int32, _ file: String) -> String {
        (try? String(contentsOfFile: "/proc/\(pid)/\(file)", encoding: .utf8)) ?? ""
    }

    /// The number of write commands that Redis has processed, including those of heartbeats.
    func redisWrites() async throws -> Double {
        let commands = #/cmdstat_(?:set|del|hset|hdel|zadd|zrem|sadd|srem|pexpire|pexpireat):calls=(\d+)/#
        return try await redis.cli("info", "commandstats").matches(of: commands).reduce(0) { $0 + (Double($1.1) ?? 0) }
    }
}
