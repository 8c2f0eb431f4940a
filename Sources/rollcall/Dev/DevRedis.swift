// The Redis of `rollcall dev`, whatever it is made of: workers are told where it is, the page may crash it, and what is
// published there is shown.

import ArgumentParser

/// What a private Redis is made of.
enum RedisKind: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// One server.
    case single
    /// A primary with two replicas, and three sentinels.
    case sentinel
    /// Three primaries with a replica each.
    case cluster
}

/// A Redis in which what the page crashes is a primary.
protocol DevRedis: Crashable {
    /// Who hears what is published there, each at a place of its own.
    var listeners: [RedisListener] { get }
}

extension Part: DevRedis where Running == PrivateRedis {
    nonisolated var listeners: [RedisListener] { [.everything(at: self)] }
}

extension RedisKind {
    /// Starts all of it, does `work` with it, and takes it down.
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
