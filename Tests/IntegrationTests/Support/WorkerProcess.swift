// A real `rollcall worker` as an operator starts it: by its command line, known by its ready line, ended by signals.

import Foundation
import RollcallModel
import TestSupport
import Testing

/// A running worker, ready to serve.
final class WorkerProcess: Sendable {
    let process: ChildProcess
    /// The worker's name in Redis at its start.
    let incarnation: String
    /// Where devices connect, `ws://…/v1/connect`.
    let edge: String
    /// Where servers ask, `http://…`.
    let admin: String

    /// Starts a worker beside `redis` and waits for its ready line.
    ///
    /// - Parameter settings: what is not as it is by default, such as `["presence.grace": "1s"]`.
    init(_ id: String, redis: RedisServer, settings: [String: String] = [:]) async throws {
        process = try Self.start(["worker.id": id, "redis.url": redis.url].merging(settings) { $1 })
        let process = process
        try await eventually("worker \(id) is ready", within: .seconds(20)) {
            try #require(process.isRunning, "worker \(id) ended: \(process.errors)")
            return process.output.contains("\n")
        }
        let ready = process.output.split(separator: "\n").first ?? ""
        let match = try #require(try #/ready worker=(\S+) edge=(\S+) admin=(\S+)/#.wholeMatch(in: ready), "\(ready)")
        (incarnation, edge, admin) = (String(match.1), String(match.2), String(match.3))
    }

    /// Starts a worker that need not become ready: on free ports, taking names for tokens, unless `settings` differ.
    static func start(_ settings: [String: String] = [:], arguments: [String] = []) throws -> ChildProcess {
        let usual = ["edge.port": "0", "admin.port": "0", "auth.mode": "insecure"]
        let flags = usual.merging(settings) { $1 }.sorted { $0.key < $1.key }.flatMap {
            ["--set", "\($0.key)=\($0.value)"]
        }
        return try ChildProcess([RollcallProgram.path, "worker"] + flags + arguments)
    }

    /// The port of the edge.
    var port: Int { URL(string: edge)?.port ?? 0 }

    /// Ends as after `kill -9`.
    func crash() {
        process.signal(SIGKILL)
    }

    /// A device of the bare protocol, welcomed.
    func device(_ user: String, _ device: String, state: DeviceState = .active) async throws -> WireDevice {
        let wire = try await WireDevice(port: port)
        try await wire.hello(token: user, device: device, state: state)
        return wire
    }
}
