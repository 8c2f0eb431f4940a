// Whether this Redis can do what a worker needs, and whether it keeps what it is given: asked at the start, and of each primary
// that joins later. Services that sell Redis differ, and some of what they lack would be noticed much later, by users.

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
    /// How long each question may take at the start. Whoever cannot be asked is not judged.
    private static let patience = Duration.seconds(10)

    /// Asks the servers what they are, and tries what workers do.
    ///
    /// - Returns: the policy by which Redis deletes keys, if it does.
    /// - Throws: ``CannotServe``.
    func checkServers() async throws -> String? {
        try await awaitConnections()
        guard let visit = try? await RedisVisit(to: topology, on: loops[0], within: Self.patience, logger: logger)
        else { return nil }
        let replies = await visit.ask([
            RedisCommand("INFO", "server"), RedisCommand("INFO", "memory"), RedisCommand("CLUSTER", "INFO"),
        ])
        await visit.close()
        let facts = ServerFacts(replies.compactMap { (try? $0.get())?.text })
        if let refusal = facts.refusal(at: settings.redis) { throw refusal }
        var spared: [(name: String, without: String)] = []
        for address in topology.map?.primaries ?? [] {
            guard let found = await lack(at: address, within: Self.patience) else { continue }
            if let needed = found.needed { throw CannotServe.lacks(needed, at: settings.redis) }
            spared += found.spared.filter { new in !spared.contains { $0.name == new.name } }
        }
        if !spared.isEmpty {
            let costs = spared.map { "\($0.name): \($0.without)" }.joined(separator: "; ")
            logger.warning("Redis refuses commands that workers can do without", metadata: ["commands": "\(costs)"])
        }
        guard let policy = facts.eviction else { return nil }
        logger.warning(
            "Redis may delete what workers keep in it: set maxmemory-policy noeviction",
            metadata: ["policy": "\(policy)"])
        return policy
    }

    /// What one server lacks.
    struct Lack {
        /// What no worker can do without, in a sentence.
        var needed: String?
        /// What workers do without.
        var spared: [(name: String, without: String)] = []
    }

    /// Tries at one server, as the workers' user, what workers do there.
    ///
    /// - Returns: `nil` if it cannot be asked.
    func lack(at address: RedisLocation.Address, within patience: Duration) async -> Lack? {
        guard
            let visit = try? await RedisVisit(
                to: topology, at: address, on: loops[0], within: patience, logger: logger)
        else { return nil }
        let rights = WorkerRights(
            names: settings.store.names, ofCluster: settings.redis.isCluster,
            withEvents: settings.store.keptEvents != nil)
        let shortfall = try? await visit.shortfall(of: rights)
        await visit.close()
        guard let shortfall else { return nil }
        if let sentence = shortfall.needed.sentence {
            let file = RedisDeployment.rightsFile(ofCluster: settings.redis.isCluster)
            return Lack(needed: "\(sentence); \(file) lists all")
        }
        for isLast in [false, false, true] where !Task.isCancelled {
            let refusal = await topology.refusalToSubscribe(
                of: settings.store.names, at: address, on: loops[0], within: patience, logger: logger)
            guard let refusal else { break }
            // A connection may be lost for another reason, once.
            guard isLast || refusal.reply != nil else {
                try? await Task.sleep(for: .seconds(1))
                continue
            }
            return Lack(needed: "no messages can be received (\(refusal)): redis.url must lead to Redis itself")
        }
        return Lack(spared: shortfall.spared)
    }

    /// Waits until each event loop has its connections: half of them would leave joins without an answer.
    private func awaitConnections() async throws {
        let deadline = ContinuousClock.now + settings.connectTimeout
        while let error = try await missingConnection() {
            guard ContinuousClock.now < deadline else { throw CannotServe.tooFewConnections(error, at: settings.redis) }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    private func missingConnection() async throws -> RedisError? {
        let loops = try await fromEachShard { (figures: $0.figures, error: $0.lastError) }
        var missing = MissingLinks()
        missing.observe(loops.map(\.figures).reduce(LoopFigures(), +).links, at: .now)
        let error = loops.lazy.compactMap(\.error).first
        // What is refused is named by what is tried next.
        guard missing.first != nil, error?.command != "SUBSCRIBE" else { return nil }
        return error ?? RedisError(.connectFailed, "no answer yet")
    }
}
