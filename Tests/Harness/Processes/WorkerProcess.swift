// A real `rollcall worker` process: started by its command line, ready once it prints its ready line, stopped by
// signals.

internal import Foundation
public import RollcallProtocol
public import TestSupport

/// A running worker that accepts connections.
public final class WorkerProcess: Sendable {
    public let process: ChildProcess
    /// The worker's incarnation at its start, as named in Redis.
    public let incarnation: String
    /// The URL that devices connect to, `ws://…/v1/connect`.
    public let edge: String
    /// The URL of the admin API, `http://…`.
    public let admin: String

    /// Starts a worker that uses `redis`, and waits for its ready line.
    ///
    /// - Parameters:
    ///   - settings: configuration that differs from the defaults, such as `["presence.grace": "1s"]`.
    ///   - environment: variables to add to the environment.
    ///   - program: the program to start.
    public init(
        _ id: String, redis url: String, settings: [String: String] = [:], environment: [String: String] = [:],
        program: String = RollcallProgram.path
    ) async throws {
        process = try Self.start(
            ["worker.id": id, "redis.url": url].merging(settings) { $1 }, environment: environment, program: program)
        let process = process
        try await eventually("worker \(id) is ready") {
            guard process.isRunning else { throw WorkerEnded(description: "worker \(id) ended: \(process.errors)") }
            return process.output.contains("\n")
        }
        let ready = process.output.split(separator: "\n").first ?? ""
        guard let match = try #/ready worker=(\S+) edge=(\S+) admin=(\S+)/#.wholeMatch(in: ready) else {
            throw WorkerEnded(description: "worker \(id) says \(ready)")
        }
        (incarnation, edge, admin) = (String(match.1), String(match.2), String(match.3))
    }

    /// Starts a worker without waiting for its ready line. Unless `settings` differ, it uses free ports and accepts
    /// user names as tokens.
    public static func start(
        _ settings: [String: String] = [:], environment: [String: String] = [:],
        program: String = RollcallProgram.path
    ) throws -> ChildProcess {
        let usual = ["edge.port": "0", "admin.port": "0", "auth.mode": "insecure"]
        var settings = usual.merging(settings) { $1 }
        // It may have a password, which the command line does not take.
        let redis = settings.removeValue(forKey: "redis.url").map { ["ROLLCALL_REDIS_URL": $0] } ?? [:]
        let flags = settings.sorted { $0.key < $1.key }.flatMap { ["--set", "\($0.key)=\($0.value)"] }
        return try ChildProcess([program, "worker"] + flags, environment: redis.merging(environment) { $1 })
    }

    public var port: Int { URL(string: edge)?.port ?? 0 }
    /// The port of the admin API.
    public var adminPort: Int { URL(string: admin)?.port ?? 0 }

    /// Kills the process, as `kill -9` does.
    public func crash() {
        process.signal(SIGKILL)
    }

    /// Connects a device that speaks the bare protocol, and waits for its welcome.
    public func device(
        _ user: String, _ device: String, state: DeviceState = .active
    ) async throws -> WireDevice {
        let wire = try await WireDevice(port: port)
        try await wire.hello(token: user, device: device, state: state)
        return wire
    }
}

/// A worker exited or printed something else instead of its ready line.
public struct WorkerEnded: Error, CustomStringConvertible {
    public let description: String
}
