// One worker and the proxies around it: one to Redis and one for its devices. A restarted worker is reachable at the
// same port.

internal import Foundation
internal import Harness
internal import NIOConcurrencyHelpers
internal import TestSupport

/// A host with at most one worker on it.
public final class Host: Sendable {
    public let number: Int
    let toRedis: Ways
    /// The Redis URL in the worker's configuration.
    private let url: String
    /// The proxy that devices connect to; `nil` if they connect to the worker directly, because there are too many.
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

    /// The logs of all workers that were started here.
    var logs: [String] { started.withLockedValue { $0 }.map(\.worker.process.errors) }

    /// When each worker except the first was started.
    var restarts: [Moment] { started.withLockedValue { $0 }.dropFirst().map(\.at) }

    /// The port that devices connect to, if there is a worker or a door.
    var port: Int? { door?.port ?? running?.port }

    /// The worker, while it runs. Afterwards, another program may use its port.
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

    /// Kills the worker as a crash would.
    ///
    /// - Returns: when.
    func kill() async throws -> Moment {
        let moment = Moment.now
        worker.crash()
        _ = try await exitCode()
        return moment
    }

    /// Waits for the worker to exit.
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
