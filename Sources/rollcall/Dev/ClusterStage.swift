// Three primaries with a third of the keys and a replica each, so that anyone can see a failover of a cluster. The demo
// page kills the primary that holds the leases, whose loss has the most effect; users can kill any by hand. The servers
// store nothing, so a primary is restarted only after its replica has replaced it. Otherwise it would be the primary
// again, without data.

import Foundation

/// A Redis Cluster.
actor ClusterStage {
    private static let primaries = 3
    /// How long an ended server waits until another has replaced it. If its replica is gone too, or most primaries at
    /// once, none will. Then it returns in its old role, and workers write its data again.
    private static let patience = Duration.seconds(10)

    private let servers: [Part<PrivateRedis>]
    private var crashed: Part<PrivateRedis>?

    private init(_ servers: [Part<PrivateRedis>]) {
        self.servers = servers
    }

    /// Starts all servers, does `work`, and stops them.
    static func during<Result: Sendable>(
        atHome isAtHome: Bool, _ work: @escaping @Sendable (DevDeployment, any DevRedis) async throws -> Result
    ) async throws -> Result {
        try await RedisVersion.require(7, for: "a cluster")
        let present = Eventual<ClusterStage>()
        return try await started([], [], atHome: isAtHome, awaiting: present) { nodes, servers in
            let stage = ClusterStage(servers)
            present.settle(stage)
            try await create(nodes)
            try await stage.settled()
            let hosts = nodes.prefix(primaries).map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
            return try await work(
                DevDeployment(
                    url: "redis+cluster://\(hosts)", port: nodes[0].port, pid: nodes[0].pid, nodes: nodes), stage)
        }
    }

    /// Starts servers, each in the scope of the previous one.
    private static func started<Result: Sendable>(
        _ nodes: [PrivateRedis], _ servers: [Part<PrivateRedis>], atHome isAtHome: Bool,
        awaiting present: Eventual<ClusterStage>,
        _ work: @escaping @Sendable ([PrivateRedis], [Part<PrivateRedis>]) async throws -> Result
    ) async throws -> Result {
        guard nodes.count < 2 * primaries else { return try await work(nodes, servers) }
        let role = PrivateRole.node(nodes.count)
        @Sendable func later(_ last: PrivateRedis) async throws -> PrivateRole {
            guard let stage = present.known else { throw CannotStart("a server ended before all had started") }
            try await stage.replaced(last.port)
            return role
        }
        return try await PrivateRedis.during(role, later: later, atHome: isAtHome) { node, server in
            try await started(nodes + [node], servers + [server], atHome: isAtHome, awaiting: present, work)
        }
    }

    /// Creates a cluster of the servers. The first ones become primaries.
    private static func create(_ nodes: [PrivateRedis]) async throws {
        let child = try nodes[0].cli(
            ["--cluster", "create"] + nodes.map { "127.0.0.1:\($0.port)" }
                + ["--cluster-replicas", "1", "--cluster-yes"])
        var said: [String] = []
        for await line in child.lines { said.append(line) }
        if Task.isCancelled { await child.stop() }
        try Task.checkCancellation()
        guard await child.ending == .exited(0) else {
            throw CannotStart("redis-cli did not create a cluster:\n" + said.suffix(5).joined(separator: "\n"))
        }
    }

    /// Waits until each server knows that the cluster is healthy and which servers are replicas, and each replica is in
    /// sync. Earlier, no replica could replace a primary.
    private func settled() async throws {
        for server in servers {
            while let node = await server.life?.running, try await !isSettled(node) {
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    private func isSettled(_ node: PrivateRedis) async throws -> Bool {
        guard try await node.ask("CLUSTER", "INFO").contains(where: { $0.hasPrefix("cluster_state:ok") }),
            try await ClusterNodes(node.ask("CLUSTER", "NODES"))?.replicaCount == servers.count - Self.primaries
        else { return false }
        let role = try await node.ask("ROLE")
        return role.first != "slave" || role.contains("connected")
    }

    /// Waits until all running servers know that the slots of the server on this port belong to another.
    private func replaced(_ port: Int) async throws {
        let end = ContinuousClock.now + Self.patience
        while ContinuousClock.now < end {
            let opinions = await opinions
            if !opinions.isEmpty, opinions.allSatisfy({ !$0.hasSlots(port) }) { return }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// The views of all running servers.
    private var opinions: [ClusterNodes] {
        get async {
            var opinions: [ClusterNodes] = []
            for server in servers {
                guard let node = await server.life?.running, let lines = try? await node.ask("CLUSTER", "NODES"),
                    let nodes = ClusterNodes(lines)
                else { continue }
                opinions.append(nodes)
            }
            return opinions
        }
    }

    /// Returns the primary that owns a key.
    private func primary(of key: String) async -> Part<PrivateRedis>? {
        for server in servers {
            guard let node = await server.life?.running, let slot = try? await node.ask("CLUSTER", "KEYSLOT", key).last,
                let lines = try? await node.ask("CLUSTER", "NODES"),
                let port = Int(slot).flatMap({ ClusterNodes(lines)?.owner(of: $0) })
            else { continue }
            for server in servers where await server.life?.running.port == port { return server }
        }
        return nil
    }
}

// MARK: Actions of the demo page

extension ClusterStage: DevRedis {
    nonisolated var listeners: [RedisListener] { servers.map { .shard(at: $0) } }

    var isUp: Bool { crashed == nil }

    func crash() async {
        guard crashed == nil, let primary = await primary(of: "{workers}") else { return }
        crashed = primary
        await primary.crash()
    }

    func start() async throws {
        try await crashed?.start()
        crashed = nil
    }
}
