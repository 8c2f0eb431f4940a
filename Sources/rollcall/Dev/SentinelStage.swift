// A primary, two replicas and three sentinels, so that anyone can see a failover. The demo page kills the current
// primary; users can do so by hand. The servers store nothing, so a restarted server always becomes a replica. As a
// primary it would be empty, and its replicas would then delete their data too.

/// A Redis with sentinels.
actor SentinelStage {
    static let name = "mymaster"

    private let servers: [Part<PrivateRedis>]
    private let sentinels: [PrivateRedis]
    private var crashed: Part<PrivateRedis>?

    private init(_ servers: [Part<PrivateRedis>], _ sentinels: [PrivateRedis]) {
        (self.servers, self.sentinels) = (servers, sentinels)
    }

    /// Starts all servers, does `work`, and stops them.
    static func during<Result: Sendable>(
        atHome isAtHome: Bool, _ work: @escaping @Sendable (DevDeployment, any DevRedis) async throws -> Result
    ) async throws -> Result {
        let present = Eventual<SentinelStage>()
        @Sendable func later(_ last: PrivateRedis) async throws -> PrivateRole {
            guard let stage = present.known else { throw CannotStart("a server ended before all had started") }
            return .replica(0, of: try await stage.primary(besides: last.port))
        }
        return try await PrivateRedis.during(later: later, atHome: isAtHome) { primary, first in
            let port = primary.port
            return try await PrivateRedis.during(.replica(1, of: port), later: later, atHome: isAtHome) { _, second in
                try await PrivateRedis.during(.replica(2, of: port), later: later, atHome: isAtHome) { _, third in
                    try await watched(primary.port, atHome: isAtHome, [], needed: 3) { sentinels in
                        let stage = SentinelStage([first, second, third], sentinels)
                        present.settle(stage)
                        try await stage.settled()
                        let hosts = sentinels.map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
                        return try await work(
                            DevDeployment(
                                url: "redis+sentinel://\(hosts)/\(name)", port: primary.port, pid: primary.pid,
                                sentinels: sentinels),
                            stage)
                    }
                }
            }
        }
    }

    /// Starts sentinels, each in the scope of the previous one.
    private static func watched<Result: Sendable>(
        _ primary: Int, atHome isAtHome: Bool, _ sentinels: [PrivateRedis], needed: Int,
        _ work: @escaping @Sendable ([PrivateRedis]) async throws -> Result
    ) async throws -> Result {
        guard sentinels.count < needed else { return try await work(sentinels) }
        let role = PrivateRole.sentinel(sentinels.count, watching: primary, as: name, quorum: needed / 2 + 1)
        return try await PrivateRedis.during(role, atHome: isAtHome) { sentinel, _ in
            try await watched(primary, atHome: isAtHome, sentinels + [sentinel], needed: needed, work)
        }
    }

    /// Waits until the sentinels know each other and the replicas. Earlier, they could not agree on a failover.
    private func settled() async throws {
        for sentinel in sentinels {
            while true {
                let facts = try await sentinel.ask("SENTINEL", "MASTER", Self.name)
                let pairs = zip(facts, facts.dropFirst())
                if pairs.contains(where: { $0 == ("num-other-sentinels", "\(sentinels.count - 1)") }),
                    pairs.contains(where: { $0 == ("num-slaves", "\(servers.count - 1)") })
                {
                    break
                }
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    /// Returns the port of the primary once that is not this port. Until then, a server that returns here would count
    /// as the primary.
    private func primary(besides port: Int) async throws -> Int {
        while true {
            let primary = await primaryPort
            try Task.checkCancellation()
            guard let primary else { throw CannotStart("the sentinels are gone") }
            if primary != port { return primary }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// The port of the primary, according to the first sentinel that answers.
    private var primaryPort: Int? {
        get async {
            for sentinel in sentinels {
                let answer = try? await sentinel.ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", Self.name)
                if let port = answer?.last.flatMap({ Int($0) }) { return port }
            }
            return nil
        }
    }
}

// MARK: The place where messages are published

extension SentinelStage: RedisPlace {
    var server: PrivateRedis? {
        get async {
            guard let port = await primaryPort else { return nil }
            for server in servers {
                if let running = await server.life?.running, running.port == port { return running }
            }
            return nil
        }
    }
}

// MARK: Actions of the demo page

extension SentinelStage: DevRedis {
    nonisolated var listeners: [RedisListener] { [.everything(at: self)] }

    var isUp: Bool { crashed == nil }

    func crash() async {
        guard crashed == nil, let port = await primaryPort else { return }
        for server in servers where await server.life?.running.port == port {
            crashed = server
            await server.crash()
        }
    }

    func start() async throws {
        try await crashed?.start()
        crashed = nil
    }
}
