// A private Redis as in deployments: one server, a primary with sentinels, or a cluster. Tests that work with any of
// them use the kind that the environment selects, and query it with these functions.

public import Foundation

/// A private Redis of any kind; stopped when the value is released.
public final class TestRedis: Sendable {
    /// The kind of deployment.
    public enum Kind: String, CaseIterable, Codable, Sendable {
        /// One server.
        case server
        /// A primary, two replicas, three sentinels.
        case sentinel
        /// Three primaries, each with a replica.
        case cluster

        /// The default kind: the value of `TEST_REDIS`, or else one server.
        public static let usual: Kind = {
            guard let name = ProcessInfo.processInfo.environment["TEST_REDIS"] else { return .server }
            guard let kind = Kind(rawValue: name) else {
                preconditionFailure("TEST_REDIS is one of \(allCases.map(\.rawValue))")
            }
            return kind
        }()
    }

    private enum Parts: Sendable {
        case server(RedisServer)
        case sentinel(SentinelSet)
        case cluster(RedisClusterSet)
    }

    private let parts: Parts

    public var kind: Kind {
        switch parts {
        case .server: .server
        case .sentinel: .sentinel
        case .cluster: .cluster
        }
    }

    /// Starts the servers.
    ///
    /// - Parameters:
    ///   - deadAfter: how long a server may be silent before another one is promoted. The default is long, so that a
    ///     busy machine does not disturb tests that are not about failover.
    ///   - gate: creates something to put in front of each server; not used for a single server.
    public init(_ kind: Kind = .usual, deadAfter: Duration = .seconds(10), gate: GateMaker? = nil) async throws {
        parts =
            switch kind {
            case .server: .server(try await RedisServer())
            case .sentinel: .sentinel(try await SentinelSet(downAfter: deadAfter, gate: gate))
            case .cluster:
                .cluster(try await RedisClusterSet(hasReplicas: true, nodeTimeout: deadAfter, gate: gate))
            }
    }

    /// Uses one server that already runs.
    public init(_ server: RedisServer) {
        parts = .server(server)
    }

    /// All servers that hold data. The first one is initially a primary.
    public var servers: [RedisServer] {
        switch parts {
        case .server(let server): [server]
        case .sentinel(let set): set.servers
        case .cluster(let set): set.servers
        }
    }

    public var sentinels: SentinelSet? { if case .sentinel(let set) = parts { set } else { nil } }
    public var cluster: RedisClusterSet? { if case .cluster(let set) = parts { set } else { nil } }

    /// The URL for a user with only the permissions of a worker.
    public var url: String {
        switch parts {
        case .server(let server): server.url
        case .sentinel(let set): set.url
        case .cluster(let set): set.url
        }
    }

    /// The events that a worker which has just started records about Redis, the newest first.
    public var firstEvents: [String] {
        switch kind {
        case .server: ["lease begun"]
        case .sentinel: ["lease begun", "primary found"]
        case .cluster: ["lease begun", "slots of the cluster"]
        }
    }

    /// A folder that is deleted when the value is released.
    public var folder: URL { servers[0].folder }

    /// Kills all processes as a crash would.
    public func kill() async throws {
        try await sentinels?.killSentinels()
        for server in servers { server.process.kill() }
        for server in servers { try await server.process.exitCode() }
    }
}

// MARK: Queries

extension TestRedis {
    /// Runs `redis-cli` against the primary, or the node that has the key.
    @discardableResult
    public func cli(_ arguments: String...) async throws -> String {
        try await cli(arguments)
    }

    /// Runs `redis-cli` with these arguments, as above.
    @discardableResult
    public func cli(_ arguments: [String]) async throws -> String {
        switch parts {
        case .server(let server): try await server.cli(arguments)
        case .sentinel(let set): try await set.master().cli(arguments)
        case .cluster(let set): try await set.cli(arguments)
        }
    }

    /// Runs `redis-cli` against each primary.
    ///
    /// - Returns: what each one printed.
    @discardableResult
    public func everywhere(_ arguments: String...) async throws -> [String] {
        var outputs: [String] = []
        for server in try await primaries() { outputs.append(try await server.cli(arguments)) }
        return outputs
    }

    /// The servers that accept writes.
    public func primaries() async throws -> [RedisServer] {
        switch parts {
        case .server(let server): [server]
        case .sentinel(let set): [try await set.master()]
        case .cluster(let set): try await set.primaries()
        }
    }

    /// Returns the primary that has a key.
    public func primary(of key: String) async throws -> RedisServer {
        switch parts {
        case .server(let server): server
        case .sentinel(let set): try await set.master()
        case .cluster(let set): try await set.primary(of: key)
        }
    }

    /// Returns all keys that match a pattern, on all servers.
    public func keys(_ pattern: String = "*") async throws -> [String] {
        try await everywhere("KEYS", pattern).flatMap { $0.split(separator: "\n").map(String.init) }
    }
}

// MARK: Channels

extension TestRedis {
    /// The command that publishes messages to the channels of this deployment.
    public var publishing: String { cluster == nil ? "PUBLISH" : "SPUBLISH" }

    /// Publishes a message on a channel.
    public func publish(_ message: String, to channel: String) async throws {
        try await cli(publishing, channel, message)
    }

    /// Starts a `redis-cli` that prints what is published on a channel from now on.
    public func listener(on channel: String) async throws -> ChildProcess {
        let port = try await primary(of: channel).port
        let command = cluster == nil ? "SUBSCRIBE" : "SSUBSCRIBE"
        let process = try ChildProcess(["redis-cli", "-p", "\(port)", command, channel])
        try await eventually("it is subscribed to \(channel)") { process.output.contains("subscribe\n") }
        return process
    }

    /// Starts a `redis-cli` for each primary that prints every command from now on, including those of scripts.
    public func monitors() async throws -> [ChildProcess] {
        var monitors: [ChildProcess] = []
        for server in try await primaries() {
            let process = try ChildProcess(["redis-cli", "-p", "\(server.port)", "MONITOR"])
            try await eventually("it monitors") { process.output.contains("OK\n") }
            monitors.append(process)
        }
        return monitors
    }
}
