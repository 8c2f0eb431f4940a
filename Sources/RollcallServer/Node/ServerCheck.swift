// What a worker asks at its start: whether this Redis can do what it needs, and whether it keeps what it is given. Services
// that sell Redis differ, and some of what they lack would be noticed much later, by users.

internal import Logging
internal import NIOCore
internal import RollcallCore
internal import RollcallProtocol
internal import RollcallRedis

/// What a server says of itself, in `INFO` and `CLUSTER INFO`.
struct ServerFacts {
    private let facts: [ByteString: ByteString]

    /// - Parameter replies: those that were refused are missing.
    init(_ replies: [ByteString]) {
        let lines = replies.flatMap { $0.parts(at: "\n") }.compactMap { $0.parts(at: "\r")[0].cut(at: ":") }
        facts = Dictionary(lines.map { ($0.before, $0.after) }) { first, _ in first }
    }

    /// Why no worker can use it; `nil` also if it says nothing.
    func refusal(at location: RedisDeployment) -> CannotServe? {
        if let version = facts["redis_version"], facts["valkey_version"] == nil {
            let numbers = version.parts(at: ".").map { Int(decimal: $0) ?? 0 }
            if numbers.lexicographicallyPrecedes([6, 2]) {
                return CannotServe(
                    description:
                        "the Redis at \(location) is \(version), which lacks what a worker needs: use Redis 6.2 or later, "
                        + "or Valkey")
            }
        }
        // One node that serves all slots is as good as a single server.
        guard facts["redis_mode"] == "cluster", let size = facts["cluster_size"].flatMap({ Int(decimal: $0) }),
            size > 1,
            !location.isCluster
        else { return nil }
        return CannotServe(
            description:
                "the Redis at \(location) is one of \(size) primaries of a cluster, and has only some of the keys: "
                + RedisDeployment.clusterAdvice)
    }

    /// The policy by which it deletes keys to make room; `nil` if it deletes none.
    var eviction: String? {
        guard let policy = facts["maxmemory_policy"]?.string, policy != "noeviction", facts["maxmemory"] != "0" else {
            return nil
        }
        return policy
    }
}

extension Node {
    /// How long it may take. Whoever cannot be asked is not judged.
    private static let patience = Duration.seconds(2)

    /// Asks the server what it is.
    ///
    /// - Returns: the policy by which it deletes keys, if it does.
    /// - Throws: ``CannotServe``.
    func checkServer() async throws -> String? {
        guard let visit = try? await RedisVisit(to: topology, on: loops[0], within: Self.patience, logger: logger)
        else {
            return nil
        }
        let replies = await visit.ask([
            RedisCommand("INFO", "server"), RedisCommand("INFO", "memory"), RedisCommand("CLUSTER", "INFO"),
        ])
        await visit.close()
        let facts = ServerFacts(replies.compactMap { (try? $0.get())?.text })
        if let refusal = facts.refusal(at: settings.redis) { throw refusal }
        guard let policy = facts.eviction else { return nil }
        logger.warning(
            "Redis may delete what workers keep in it: set maxmemory-policy noeviction",
            metadata: ["policy": "\(policy)"])
        return policy
    }
}
