// The addresses of `rollcall dev`'s Redis, for programs and for people.

/// The addresses and processes of the servers.
struct DevDeployment: Sendable, Encodable {
    /// The `redis.url` of the workers.
    let url: String
    /// The first primary at the start.
    let port: Int
    let pid: Int32
    /// The sentinels, if there are any.
    var sentinels: [PrivateRedis] = []
    /// All servers of a cluster; those that are primaries at the start come first.
    var nodes: [PrivateRedis] = []
}

// MARK: Text

extension DevDeployment {
    /// Describes where the servers are.
    var places: [String] {
        if !nodes.isEmpty {
            let (primaries, replicas) = (nodes.prefix(nodes.count / 2), nodes.suffix(nodes.count / 2))
            return [
                "\(url), without persistence;",
                "primaries on \(Self.list(primaries.map(\.port))) are processes \(Self.list(primaries.map(\.pid))),",
                "with replicas on \(Self.list(replicas.map(\.port))), processes \(Self.list(replicas.map(\.pid)))",
            ]
        }
        let alone = "127.0.0.1:\(port), without persistence"
        guard !sentinels.isEmpty else { return [alone] }
        return [
            alone, "the primary of two replicas, named \(SentinelStage.name) by sentinels at",
            sentinels.map { "127.0.0.1:\($0.port)" }.joined(separator: ", "),
        ]
    }

    /// Commands to try.
    ///
    /// - Parameter admin: a worker's admin port.
    func trials(admin: String) -> [String] {
        let cli = nodes.isEmpty ? "redis-cli -p \(port)" : "redis-cli -c -p \(port)"
        let listening = nodes.isEmpty ? "PSUBSCRIBE 'typing:*' 'presence:*'" : "SSUBSCRIBE 'typing:{c42}'"
        return [
            "\(cli) \(listening)", "\(cli) TTL 'typing:{c42}:alice'", "\(cli) HGETALL 'presence:{alice}'",
            "curl '\(admin)/v1/presence?user=alice&user=bob'",
        ] + failovers
    }

    /// Commands that cause a failover.
    private var failovers: [String] {
        let death = "kill -9 \(pid)      a replica replaces it, and it returns as a replica"
        if let first = sentinels.first {
            return [death, "redis-cli -p \(first.port) SENTINEL FAILOVER \(SentinelStage.name)"]
        }
        guard let last = nodes.last else { return [] }
        return [
            death, "redis-cli -p \(last.port) CLUSTER NODES",
            "rollcall doctor --set auth.mode=insecure --set redis.url=\(url)",
        ]
    }

    private static func list(_ facts: [some CustomStringConvertible]) -> String {
        facts.map(\.description).joined(separator: ", ")
    }
}
