// The Redis of `rollcall dev`, whatever it is made of: workers are told where it is, the page may crash it, and what is
// published there is shown.

import ArgumentParser

/// What a private Redis is made of.
enum RedisKind: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// One server.
    case single
    /// A primary with two replicas, and three sentinels.
    case sentinel
}

/// A Redis in which what the page crashes is the primary.
protocol DevRedis: Crashable {
    /// The server that takes writes; `nil` while there is none.
    var primary: PrivateRedis? { get async }
}

extension Part: DevRedis where Running == PrivateRedis {
    var primary: PrivateRedis? { life?.running }
}

/// Where everything is.
struct DevDeployment: Sendable, Encodable {
    /// What workers are told.
    let url: String
    /// The primary at the beginning.
    let port: Int
    let pid: Int32
    /// Those that know the primary, where others know it.
    var sentinels: [PrivateRedis] = []
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
        }
    }
}
