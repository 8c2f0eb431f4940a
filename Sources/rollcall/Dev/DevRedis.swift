// The Redis of `rollcall dev`, of any kind: workers get its URL, the demo page can crash it, and what is published
// there is shown.

import ArgumentParser

/// The kind of a private Redis.
enum RedisKind: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// One server.
    case single
    /// A primary with two replicas, and three sentinels.
    case sentinel
    /// Three primaries with a replica each.
    case cluster
}

/// A private Redis. Crashing it crashes a primary.
protocol DevRedis: Crashable {
    /// Listeners for everything that is published there, one per server.
    var listeners: [RedisListener] { get }
}

extension Part: DevRedis where Running == PrivateRedis {
    nonisolated var listeners: [RedisListener] { [.everything(at: self)] }
}

extension RedisKind {
    /// Starts all servers, does `work`, and stops them.
    ///
    /// - Parameter isAtHome: whether the usual ports are tried first.
    func during<Result: Sendable>(
        atHome isAtHome: Bool, _ work: @escaping @Sendable (DevDeployment, any DevRedis) async throws -> Result
    ) async throws -> Result {
        switch self {
        case .single:
            try await PrivateRedis.during(atHome: isAtHome) { redis, part in
                try await work(DevDeployment(url: redis.url, port: redis.port, pid: redis.pid), part)
            }
        case .sentinel: try await SentinelStage.during(atHome: isAtHome, work)
        case .cluster: try await ClusterStage.during(atHome: isAtHome, work)
        }
    }
}
