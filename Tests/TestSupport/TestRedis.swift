// A private Redis as deployments have it: one server, a primary that sentinels watch, or a cluster. Tests that do not care
// take what the environment names, and ask here for what they want to know, wherever it lies.

public import Foundation

/// A Redis of a test's own, of any kind; gone with the value.
public final class TestRedis: Sendable {
    /// What it consists of.
    public enum Kind: String, CaseIterable, Codable, Sendable {
        /// One server.
        case server
        /// A primary, two replicas, three sentinels.
        case sentinel
        /// Three primaries, each with a replica.
        case cluster

        /// What a test has that chooses nothing else: `TEST_REDIS`, or one server.
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

    /// Starts one.
    ///
    /// - Parameters:
    ///   - deadAfter: how long a server may be silent before another takes its place: long, for tests that have nothing
    ///     to do with that, on machines that have other things to do.
    ///   - gate: puts something before each server, unless it is one alone.
    public init(_ kind: Kind = .usual, deadAfter: Duration = .seconds(10), gate: GateMaker? = nil) async throws {
        parts =
            switch kind {
            case .server: .server(try await RedisServer())
            case .sentinel: .sentinel(try await SentinelSet(downAfter: deadAfter, gate: gate))
            case .cluster:
                .cluster(try await RedisClusterSet(hasReplicas: true, nodeTimeout: deadAfter, gate: gate))
            }
    }

    /// One server that runs already.
    public init(_ server: RedisServer) {
        parts = .server(server)
    }

    /// All that hold data. The first is a primary, at the beginning.
    public var servers: [RedisServer] {
        switch parts {
        case .server(let server): [server]
        case .sentinel(let set): set.servers
        case .cluster(let set): set.servers
        }
    }

    public var sentinels: SentinelSet? { if case .sentinel(let set) = parts { set } else { nil } }
    public var cluster: RedisClusterSet? { if case .cluster(let set) = parts { set } else { nil } }

    /// For whoever does what a worker does, and nothing else.
    public var url: String {
        switch parts {
        case .server(let server): server.url
        case .sentinel(let set): set.url
        case .cluster(let set): set.url
        }
    }

    /// What a worker that has just begun tells of it, the newest first.
    public var firstEvents: [String] {
        switch kind {
        case .server: ["lease begun"]
        case .sentinel: ["lease begun", "primary found"]
        case .cluster: ["lease begun", "slots of the cluster"]
        }
    }

    /// A folder that is gone with the value.
    public var folder: URL { servers[0].folder }

    /// Ends all of it as a crash would.
    public func kill() async throws {
        try await sentinels?.killSentinels()
        for server in servers { server.process.kill() }
        for server in servers { try await server.process.exitCode() }
    }
}

// MARK: Asking

extension TestRedis {
    /// Runs `redis-cli` against the primary, or whichever has the key.
    @discardableResult
    public func cli(_ arguments: String...) async throws -> String {
        try await cli(arguments)
    }

    /// As above.
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
    /// - Returns: what each printed.
    @discardableResult
    public func everywhere(_ arguments: String...) async throws -> [String] {
        var outputs: [String] = []
        for server in try await primaries() { outputs.append(try await server.cli(arguments)) }
        return outputs
    }

    /// Those that take writes.
    public func primaries() async throws -> [RedisServer] {
        switch parts {
        case .server(let server): [server]
        case .sentinel(let set): [try await set.master()]
        case .cluster(let set): try await set.primaries()
        }
    }

    /// The one that has a key.
    public func primary(of key: String) async throws -> RedisServer {
        switch parts {
        case .server(let server): server
        case .sentinel(let set): try await set.master()
        case .cluster(let set): try await set.primary(of: key)
        }
    }

    /// All keys of a pattern, wherever they lie.
    public func keys(_ pattern: String = "*") async throws -> [String] {
        try await everywhere("KEYS", pattern).flatMap { $0.split(separator: "\n").map(String.init) }
    }
}

// MARK: Channels

extension TestRedis {
    /// The command by which scripts and others publish.
    public var publishing: String { cluster == nil ? "PUBLISH" : "SPUBLISH" }

    /// Says something on a channel.
    public func publish(_ message: String, to channel: String) async throws {
        try await cli(publishing, channel, message)
    }

    /// A `redis-cli` that prints what is said on a channel, from now on.
    public func listener(on channel: String) async throws -> ChildProcess {
        let port = try await primary(of: channel).port
        let command = cluster == nil ? "SUBSCRIBE" : "SSUBSCRIBE"
        let process = try ChildProcess(["redis-cli", "-p", "\(port)", command, channel])
        try await eventually("it is subscribed to \(channel)") { process.output.contains("subscribe\n") }
        return process
    }

    /// Of each primary a `redis-cli` that prints every command, be it a script's, from now on.
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
