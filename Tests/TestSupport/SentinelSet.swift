// A deployment with Redis Sentinel: a primary, its replicas, and the sentinels that monitor them.

internal import Foundation
internal import Synchronization

/// A private primary with two replicas and three sentinels that know each other.
public final class SentinelSet: Sendable {
    /// The name of the primary in the sentinels' configuration.
    public static let name = "mymaster"

    /// The first server is the initial primary.
    public let servers: [RedisServer]
    /// The ports at which others reach the servers.
    private let ports: [Int]
    private let gates: [any Gate]
    private let present: Mutex<[Sentinel]>

    public var sentinels: [Sentinel] { present.withLock { $0 } }

    /// Starts everything and waits until every sentinel knows all servers and sentinels.
    ///
    /// - Parameters:
    ///   - isHasty: whether sentinels communicate more often than by default, so that tests finish sooner.
    ///   - gate: creates something to put in front of each server and sentinel.
    public init(
        downAfter: Duration = .seconds(1), isHasty: Bool = true, gate: GateMaker? = nil
    ) async throws {
        var (servers, ports, gates): ([RedisServer], [Int], [any Gate]) = ([], [], [])
        for place in 0..<3 {
            let gate = try await gate?(.server(place))
            var options = ["--repl-diskless-sync-delay", "0"]
            if let primary = ports.first { options += ["--replicaof", "127.0.0.1 \(primary)"] }
            if let gate { options += ["--replica-announce-port", "\(gate.port)"] }
            let server = try await RedisServer(options: options)
            try await gate?.aim(at: server.port)
            servers.append(server)
            ports.append(gate?.port ?? server.port)
            if let gate { gates.append(gate) }
        }
        (self.servers, self.ports) = (servers, ports)
        let primary = servers[0]
        try await eventually("both replicas follow") {
            try await primary.cli("INFO", "replication").matches(of: /state=online/).count == 2
        }
        var sentinels: [Sentinel] = []
        for place in 0..<3 {
            let gate = try await gate?(.sentinel(place))
            let sentinel = try await Sentinel(
                watching: ports[0], as: Self.name, quorum: 2, downAfter: downAfter, gate: gate)
            if isHasty { try await Self.hurry(sentinel) }
            sentinels.append(sentinel)
            if let gate { gates.append(gate) }
        }
        self.gates = gates
        present = Mutex(sentinels)
        try await settled()
    }

    /// Shortens a sentinel's publish, info and TILT periods. Older versions of Redis have no such command; tests with
    /// them take longer.
    private static func hurry(_ sentinel: Sentinel) async throws {
        try await sentinel.cli(
            "SENTINEL", "DEBUG", "publish-period", "200", "info-period", "500", "tilt-period", "1000")
    }

    /// Waits until every sentinel knows both replicas and both other sentinels.
    public func settled() async throws {
        for sentinel in sentinels {
            try await eventually("a sentinel knows all", every: .milliseconds(50)) {
                let facts = try await sentinel.cli("SENTINEL", "MASTER", Self.name).split(separator: "\n")
                func fact(_ name: Substring) -> Substring? {
                    facts.firstIndex(of: name).map { facts[facts.index(after: $0)] }
                }
                return fact("num-slaves") == "2" && fact("num-other-sentinels") == "2"
            }
        }
    }

    /// The URL for a user with only the permissions of a worker.
    public var url: String { "redis+sentinel://rollcall:a-password@\(hosts)/\(Self.name)" }
    /// The URL for a user who may run every command.
    public var openURL: String { "redis+sentinel://\(hosts)/\(Self.name)" }
    private var hosts: String { sentinels.map { "127.0.0.1:\($0.gate?.port ?? $0.port)" }.joined(separator: ",") }

    /// Waits until the sentinels agree on a primary and that server reports that it is one.
    ///
    /// - Parameters:
    ///   - old: a server that is not accepted as the answer and not asked, because it may be stopped or suspended.
    ///   - some: the sentinels that must agree; `nil` for all running ones.
    public func primary(besides old: RedisServer? = nil, asking some: [Sentinel]? = nil) async throws -> RedisServer {
        var found: RedisServer?
        try await eventually("the sentinels agree on a primary", every: .milliseconds(50)) {
            guard let agreed = try await agreed(some ?? sentinels), agreed !== old else { return false }
            found = agreed
            return try await agreed.cli("ROLE").hasPrefix("master")
        }
        guard let found else { throw Timeout(description: "no primary") }
        return found
    }

    private func agreed(_ sentinels: [Sentinel]) async throws -> RedisServer? {
        var ports: Set<String> = []
        for sentinel in sentinels where sentinel.process.isRunning {
            let answer = try await sentinel.cli("SENTINEL", "GET-MASTER-ADDR-BY-NAME", Self.name)
            ports.insert(answer.split(separator: "\n").last.map(String.init) ?? "")
        }
        guard ports.count == 1, let place = self.ports.firstIndex(where: { "\($0)" == ports.first }) else { return nil }
        return servers[place]
    }

    /// The port at which others reach a server.
    public func port(of server: RedisServer) -> Int {
        servers.firstIndex { $0 === server }.map { ports[$0] } ?? server.port
    }

    /// Promotes a replica while the primary is healthy, and waits until that is done.
    ///
    /// - Returns: the new primary.
    @discardableResult
    public func failOver() async throws -> RedisServer {
        let old = try await primary()
        try await eventually("a sentinel fails over", every: .milliseconds(100)) {
            try await sentinels[0].cli("SENTINEL", "FAILOVER", Self.name) == "OK"
        }
        return try await primary(besides: old)
    }

    /// Kills all sentinels as a crash would.
    public func killSentinels() async throws {
        for sentinel in sentinels {
            sentinel.process.kill()
            try await sentinel.process.exitCode()
        }
    }

    /// Restarts the killed sentinels, and waits until they know all servers and sentinels.
    public func startSentinels() async throws {
        var started: [Sentinel] = []
        for old in sentinels {
            let sentinel = try await Sentinel(again: old)
            try await Self.hurry(sentinel)
            started.append(sentinel)
        }
        present.withLock { [started] in $0 = started }
        try await settled()
    }

    /// What the running servers report of their roles and clients, and what the sentinels have printed, for the message
    /// of a failed test.
    public func facts() async throws -> String {
        var facts: [String] = []
        for server in servers where server.process.isRunning {
            let role = try await server.cli("ROLE").split(separator: "\n").joined(separator: " ")
            facts += ["server \(server.port): \(role)", try await server.cli("CLIENT", "LIST")]
        }
        for sentinel in sentinels { facts += ["sentinel \(sentinel.port):", sentinel.process.output] }
        return facts.joined(separator: "\n")
    }

    /// Returns the server that reports that it is the primary.
    public func master() async throws -> RedisServer {
        for server in servers where server.process.isRunning {
            if try await server.cli("ROLE").hasPrefix("master") { return server }
        }
        throw Timeout(description: "no server is a primary")
    }
}
