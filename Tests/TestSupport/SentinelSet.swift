// What an operator runs with Sentinel: a primary, replicas, and sentinels that watch them.

internal import Foundation
internal import Synchronization

/// A primary, two replicas and three sentinels of a test's own, which know each other.
public final class SentinelSet: Sendable {
    /// By what name the sentinels know the primary.
    public static let name = "mymaster"

    /// The first of them was the primary at the beginning.
    public let servers: [RedisServer]
    /// Where others find them.
    private let ports: [Int]
    private let gates: [any Gate]
    private let present: Mutex<[Sentinel]>

    public var sentinels: [Sentinel] { present.withLock { $0 } }

    /// Starts all of them and waits until every sentinel knows everybody.
    ///
    /// - Parameters:
    ///   - isHasty: whether sentinels talk to each other more often than they do by default, so that a test is over soon.
    ///   - gate: puts something before each server and sentinel.
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

    /// Has a sentinel say and ask more often than they do by default, and come to its senses sooner that had no time to run.
    /// Older ones have no such command, and are waited for.
    private static func hurry(_ sentinel: Sentinel) async throws {
        try await sentinel.cli(
            "SENTINEL", "DEBUG", "publish-period", "200", "info-period", "500", "tilt-period", "1000")
    }

    /// Waits until every sentinel knows both replicas and both others.
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

    /// For whoever does what a worker does, and nothing else.
    public var url: String { "redis+sentinel://rollcall:a-password@\(hosts)/\(Self.name)" }
    /// For whoever may do everything.
    public var openURL: String { "redis+sentinel://\(hosts)/\(Self.name)" }
    private var hosts: String { sentinels.map { "127.0.0.1:\($0.gate?.port ?? $0.port)" }.joined(separator: ",") }

    /// The server that the sentinels name, once they agree and it is one.
    ///
    /// - Parameters:
    ///   - old: is not waited for, nor asked: it may be dead or asleep.
    ///   - some: the sentinels that count; `nil` for all that run.
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

    /// Where others find a server.
    public func port(of server: RedisServer) -> Int {
        servers.firstIndex { $0 === server }.map { ports[$0] } ?? server.port
    }

    /// Has a replica take the primary's place, both being well, and waits until it has.
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

    /// Ends all sentinels as a crash would.
    public func killSentinels() async throws {
        for sentinel in sentinels {
            sentinel.process.kill()
            try await sentinel.process.exitCode()
        }
    }

    /// Starts the sentinels anew that were killed, and waits until they know everybody.
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

    /// The server that says that it is the primary.
    public func master() async throws -> RedisServer {
        for server in servers where server.process.isRunning {
            if try await server.cli("ROLE").hasPrefix("master") { return server }
        }
        throw Timeout(description: "no server is a primary")
    }
}
