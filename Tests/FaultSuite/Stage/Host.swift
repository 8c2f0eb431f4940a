// One worker and the ways to it: to Redis through one proxy, from its devices through another. A worker that is
// started again is found at the same door.

internal import Foundation
internal import Harness
internal import NIOConcurrencyHelpers
internal import TestSupport

/// A host with at most one worker on it.
public final class Host: Sendable {
    public let number: Int
    let toRedis: Ways
    /// What the worker is told of Redis.
    private let url: String
    /// Where devices connect; `nil` where they go to the worker itself, since there are too many of them.
    let door: Proxy?
    private let settings: [String: String]
    private let environment: [String: String]
    private let started = NIOLockedValueBox<[(worker: WorkerProcess, at: Moment)]>([])

    init(
        _ number: Int, redis: RedisControl, settings: [String: String], environment: [String: String], hasDoor: Bool
    ) async throws {
        self.number = number
        self.settings = settings
        self.environment = environment
        (toRedis, url) = try await redis.way(of: number)
        door = hasDoor ? try await Proxy() : nil
    }

    /// The worker that was started last, running or not.
    var worker: WorkerProcess {
        guard let worker = started.withLockedValue({ $0.last?.worker }) else {
            preconditionFailure("a host is started first")
        }
        return worker
    }

    /// What each worker that was started here has logged.
    var logs: [String] { started.withLockedValue { $0 }.map(\.worker.process.errors) }

    /// When each worker was started, but for the first.
    var restarts: [Moment] { started.withLockedValue { $0 }.dropFirst().map(\.at) }

    /// Where devices reach the worker, if there is one or a door to it.
    var port: Int? { door?.port ?? running?.port }

    /// The worker, while it runs: what was its port may be another program's since.
    var running: WorkerProcess? {
        started.withLockedValue { $0.last?.worker }.flatMap { $0.process.isRunning ? $0 : nil }
    }

    /// Starts a worker, and waits until it is ready.
    func start() async throws {
        var settings = settings
        if let door { settings["edge.public_url"] = "ws://127.0.0.1:\(door.port)/v1/connect" }
        let moment = Moment.now
        let worker = try await WorkerProcess(
            "w\(number)", redis: url, settings: settings, environment: environment)
        started.withLockedValue { $0.append((worker, moment)) }
        try await door?.aim(at: worker.port)
    }

    /// Ends the worker as a crash would.
    ///
    /// - Returns: when.
    func kill() async throws -> Moment {
        let moment = Moment.now
        worker.crash()
        _ = try await exitCode()
        return moment
    }

    /// Waits for the worker to end.
    func exitCode() async throws -> Int32 {
        let code = try await worker.process.exitCode()
        try await door?.aim(at: nil)
        return code
    }

    @discardableResult
    func signal(_ number: Int32) -> Moment {
        worker.process.signal(number)
        return .now
    }
}
