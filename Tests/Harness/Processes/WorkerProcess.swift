// A real `rollcall worker` as an operator starts it: by its command line, known by its ready line, ended by signals.

internal import Foundation
public import RollcallModel
public import TestSupport

/// A running worker, ready to serve.
public final class WorkerProcess: Sendable {
    public let process: ChildProcess
    /// The worker's name in Redis at its start.
    public let incarnation: String
    /// Where devices connect, `ws://…/v1/connect`.
    public let edge: String
    /// Where servers ask, `http://…`.
    public let admin: String

    /// Starts a worker beside `redis` and waits for its ready line.
    ///
    /// - Parameters:
    ///   - settings: what is not as it is by default, such as `["presence.grace": "1s"]`.
    ///   - environment: what is added to the environment.
    public init(
        _ id: String, redis url: String, settings: [String: String] = [:], environment: [String: String] = [:]
    ) async throws {
        process = try Self.start(
            ["worker.id": id, "redis.url": url].merging(settings) { $1 }, environment: environment)
        let process = process
        try await eventually("worker \(id) is ready", within: .seconds(20)) {
            guard process.isRunning else { throw WorkerEnded(description: "worker \(id) ended: \(process.errors)") }
            return process.output.contains("\n")
        }
        let ready = process.output.split(separator: "\n").first ?? ""
        guard let match = try #/ready worker=(\S+) edge=(\S+) admin=(\S+)/#.wholeMatch(in: ready) else {
            throw WorkerEnded(description: "worker \(id) says \(ready)")
        }
        (incarnation, edge, admin) = (String(match.1), String(match.2), String(match.3))
    }

    /// Starts a worker that need not become ready: on free ports, taking names for tokens, unless `settings` differ.
    public static func start(
        _ settings: [String: String] = [:], environment: [String: String] = [:]
    ) throws -> ChildProcess {
        let usual = ["edge.port": "0", "admin.port": "0", "auth.mode": "insecure"]
        let flags = usual.merging(settings) { $1 }.sorted { $0.key < $1.key }.flatMap {
            ["--set", "\($0.key)=\($0.value)"]
        }
        return try ChildProcess([RollcallProgram.path, "worker"] + flags, environment: environment)
    }

    /// The port of the edge.
    public var port: Int { URL(string: edge)?.port ?? 0 }
    /// The port of the admin's HTTP.
    public var adminPort: Int { URL(string: admin)?.port ?? 0 }

    /// Ends as after `kill -9`.
    public func crash() {
        process.signal(SIGKILL)
    }

    /// A device of the bare protocol, welcomed.
    public func device(
        _ user: String, _ device: String, state: DeviceState = .active
    ) async throws -> WireDevice {
        let wire = try await WireDevice(port: port)
        try await wire.hello(token: user, device: device, state: state)
        return wire
    }
}

/// A worker ended, or said something else, where it should have become ready.
public struct WorkerEnded: Error, CustomStringConvertible {
    public let description: String
}
