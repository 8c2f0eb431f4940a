// A Redis Cluster: primaries, each with a range of slots, and replicas that can be promoted.

internal import Foundation
internal import Synchronization

/// A private cluster for a test, on loopback.
public final class RedisClusterSet: Sendable {
    /// A server, and the ports at which the others reach it.
    private struct Node {
        let server: RedisServer
        let port: Int
        let busPort: Int
        let gates: [any Gate]
    }

    private let present = Mutex<[Node]>([])
    private let gate: GateMaker?

    private static let slots = 16_384

    private var nodes: [Node] { present.withLock { $0 } }
    /// First the primaries, each with an equal part of the slots, then their replicas if any, then the nodes that were
    /// added.
    public var servers: [RedisServer] { nodes.map(\.server) }

    /// Starts all nodes and waits until they know each other and the cluster is in the `ok` state.
    ///
    /// - Parameters:
    ///   - hasReplicas: whether each primary has a replica.
    ///   - hasSpare: whether there is one more primary, the last node, without slots.
    ///   - nodeTimeout: `cluster-node-timeout`, after which a silent node counts as failing.
    ///   - gate: creates something to put in front of each node.
    public init(
        primaries: Int = 3, hasReplicas: Bool = false, hasSpare: Bool = false, nodeTimeout: Duration = .seconds(2),
        gate: GateMaker? = nil
    ) async throws {
        self.gate = gate
        for place in 0..<(primaries * (hasReplicas ? 2 : 1)) {
            try await start()
            guard place < primaries else { continue }
            let (first, next) = (place * Self.slots / primaries, (place + 1) * Self.slots / primaries)
            try await servers[place].cli("CLUSTER", "ADDSLOTSRANGE", "\(first)", "\(next - 1)")
        }
        for node in nodes.dropFirst() { try await meet(node) }
        try await settled(nodes.count)
        if hasReplicas { try await follow(primaries) }
        if hasSpare { try await add() }
        let timeout = "\(Int(nodeTimeout / .milliseconds(1)))"
        for server in servers { try await server.cli("CONFIG", "SET", "cluster-node-timeout", timeout) }
    }

    /// Starts a node that the others do not know yet.
    private func start() async throws {
        let place = nodes.count
        let gates = [try await gate?(.server(place)), try await gate?(.bus(place))].compactMap(\.self)
        let announced =
            gates.isEmpty
            ? []
            : ["--cluster-announce-port", "\(gates[0].port)"]
                + ["--cluster-announce-bus-port", "\(gates[1].port)"]
        // With a short timeout, the nodes find each other sooner.
        let options = [
            "--cluster-enabled", "yes", "--repl-diskless-sync-delay", "0",
            "--cluster-node-timeout", "2000", "--cluster-replica-validity-factor", "0",
        ]
        let (server, busPort) = try await Self.server(options: options + announced)
        for (gate, port) in zip(gates, [server.port, busPort]) { try await gate.aim(at: port) }
        let node = Node(
            server: server, port: gates.first?.port ?? server.port, busPort: gates.last?.port ?? busPort, gates: gates)
        present.withLock { $0.append(node) }
        try await server.cli("CLUSTER", "SET-CONFIG-EPOCH", "\(place + 1)")
    }

    /// Another process may take the bus port before the server listens on it, as with the command port.
    private static func server(options: [String]) async throws -> (RedisServer, busPort: Int) {
        func start(_ busPort: Int) async throws -> (RedisServer, Int) {
            let options = options + ["--cluster-port", "\(busPort)"]
            return (try await RedisServer(options: options, users: "redis-cluster.acl"), busPort)
        }
        for _ in 0..<5 {
            if let started = try? await start(freePort()) { return started }
        }
        return try await start(freePort())
    }

    private func meet(_ node: Node) async throws {
        try await servers[0].cli("CLUSTER", "MEET", "127.0.0.1", "\(node.port)", "\(node.busPort)")
    }

    /// Turns the second half of the nodes into replicas, one for each primary.
    private func follow(_ primaries: Int) async throws {
        for place in 0..<primaries {
            try await eventually("a node takes a replica's part", every: .milliseconds(50)) {
                let primary = try await servers[place].cli("CLUSTER", "MYID")
                return try await servers[primaries + place].cli("CLUSTER", "REPLICATE", primary) == "OK"
            }
        }
        try await followed(nodes[primaries..<2 * primaries])
    }

    /// Adds a primary without slots, and waits until all nodes know it.
    ///
    /// - Returns: the new node.
    @discardableResult
    public func add() async throws -> RedisServer {
        try await start()
        let node = nodes[nodes.count - 1]
        try await meet(node)
        try await settled(nodes.count)
        return node.server
    }

    /// The URL for a user with only the permissions of a worker.
    public var url: String { "redis+cluster://rollcall:a-password@\(hosts)" }
    /// The URL for a user who may run every command.
    public var openURL: String { "redis+cluster://\(hosts)" }
    private var hosts: String { nodes.prefix(2).map { "127.0.0.1:\($0.port)" }.joined(separator: ",") }

    /// Waits until each running node knows `count` nodes and all slots are served.
    public func settled(_ count: Int) async throws {
        for server in servers where server.process.isRunning {
            try await eventually("a node knows the others", within: .seconds(30), every: .milliseconds(50)) {
                let info = try await server.cli("CLUSTER", "INFO")
                return info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:\(count)\r")
            }
        }
    }

    /// Waits until these replicas are in sync with their primaries, and all nodes know that they are replicas.
    private func followed(_ replicas: some Sequence<Node>) async throws {
        for replica in replicas {
            try await eventually("a replica follows", within: .seconds(30), every: .milliseconds(50)) {
                guard try await replica.server.cli("INFO", "replication").contains("master_link_status:up") else {
                    return false
                }
                for server in servers {
                    let nodes = try await server.cli("CLUSTER", "NODES")
                    let line = nodes.split(separator: "\n").first { $0.contains(":\(replica.port)@") }
                    guard line?.contains("slave") == true else { return false }
                }
                return true
            }
        }
    }

    /// Runs `redis-cli` against the node that has the key.
    @discardableResult
    public func cli(_ arguments: String...) async throws -> String {
        try await cli(arguments)
    }

    /// Runs `redis-cli` with these arguments, as above.
    @discardableResult
    public func cli(_ arguments: [String]) async throws -> String {
        guard let server = servers.first(where: \.process.isRunning) else { throw Timeout(description: "no node runs") }
        return try await server.cli(["-c"] + arguments)
    }

    /// The running nodes that report that they are primaries.
    public func primaries() async throws -> [RedisServer] {
        var primaries: [RedisServer] = []
        for server in servers where server.process.isRunning {
            if try await server.cli("ROLE").hasPrefix("master") { primaries.append(server) }
        }
        return primaries
    }

    /// Returns the slot of a key.
    ///
    /// - Parameter old: a node that is not asked, because it may be stopped or suspended.
    public func slot(of key: String, besides old: RedisServer? = nil) async throws -> Int {
        let server = servers.first { $0 !== old && $0.process.isRunning }
        return Int(try await server?.cli("CLUSTER", "KEYSLOT", key) ?? "") ?? -1
    }

    /// Returns the primary that has a key, according to the first running node other than `old`.
    public func primary(of key: String, besides old: RedisServer? = nil) async throws -> RedisServer {
        let slot = try await slot(of: key, besides: old)
        var found: RedisServer?
        try await eventually("the slot \(slot) has a primary", within: .seconds(30), every: .milliseconds(50)) {
            for server in servers where server.process.isRunning && server !== old {
                let owner = Self.owner(of: slot, in: try await server.cli("CLUSTER", "NODES"))
                found = nodes.first { $0.port == owner && $0.server !== old }?.server
                if let found { return try await found.cli("ROLE").hasPrefix("master") }
            }
            return false
        }
        guard let found else { throw Timeout(description: "no primary") }
        return found
    }

    /// Returns the replica of a primary.
    public func replica(of primary: RedisServer) async throws -> RedisServer {
        let id = try await primary.cli("CLUSTER", "MYID")
        for server in servers where server !== primary && server.process.isRunning {
            let own = try await server.cli("CLUSTER", "NODES").split(separator: "\n").first { $0.contains("myself") }
            if own?.contains("slave \(id)") == true { return server }
        }
        throw Timeout(description: "no replica")
    }

    private static func owner(of slot: Int, in nodes: String) -> Int? {
        for line in nodes.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count > 8, words[2].contains("master"), !words[2].contains("fail") else { continue }
            let hasIt = words[8...].contains { range in
                let ends = range.split(separator: "-").compactMap { Int($0) }
                return ends.first.map { $0 <= slot && slot <= ends[ends.count - 1] } ?? false
            }
            let port = words[1].split(separator: "@")[0].split(separator: ":").last
            if hasIt { return port.flatMap { Int($0) } }
        }
        return nil
    }
}

// MARK: Moving slots

extension RedisClusterSet {
    /// Starts to move a slot: from now on, clients are redirected to the new node for keys that the old one does not
    /// have.
    public func beginMoving(_ slot: Int, from old: RedisServer, to new: RedisServer) async throws {
        let (oldID, newID) = (try await old.cli("CLUSTER", "MYID"), try await new.cli("CLUSTER", "MYID"))
        try await new.cli("CLUSTER", "SETSLOT", "\(slot)", "IMPORTING", oldID)
        try await old.cli("CLUSTER", "SETSLOT", "\(slot)", "MIGRATING", newID)
    }

    /// Moves the keys of a slot, and then the slot.
    public func finishMoving(_ slot: Int, from old: RedisServer, to new: RedisServer) async throws {
        while true {
            let keys = try await old.cli("CLUSTER", "GETKEYSINSLOT", "\(slot)", "100").split(separator: "\n")
                .map(String.init).filter { !$0.isEmpty }
            guard !keys.isEmpty else { break }
            try await old.cli(["MIGRATE", "127.0.0.1", "\(new.port)", "", "0", "5000", "KEYS"] + keys)
        }
        let newID = try await new.cli("CLUSTER", "MYID")
        for server in [new, old] + servers.filter({ $0 !== new && $0 !== old }) where server.process.isRunning {
            try await server.cli("CLUSTER", "SETSLOT", "\(slot)", "NODE", newID)
        }
    }

    /// Moves this many slots with `redis-cli --cluster reshard`, as operators do.
    public func reshard(_ count: Int, from old: RedisServer, to new: RedisServer) async throws {
        let (oldID, newID) = (try await old.cli("CLUSTER", "MYID"), try await new.cli("CLUSTER", "MYID"))
        let child = try ChildProcess([
            "redis-cli", "--cluster", "reshard", "127.0.0.1:\(new.port)", "--cluster-from", oldID, "--cluster-to",
            newID,
            "--cluster-slots", "\(count)", "--cluster-yes",
        ])
        guard try await child.exitCode(within: .seconds(120)) == 0 else {
            throw Timeout(description: "resharding failed: \(child.output.suffix(500))")
        }
    }

    /// Promotes a primary's replica while both are healthy.
    public func failOver(_ old: RedisServer) async throws {
        let replica = try await replica(of: old)
        // Refused until the replica has heard from its primary.
        try await eventually("a replica begins", every: .milliseconds(100)) {
            try await replica.cli("CLUSTER", "FAILOVER") == "OK"
        }
    }

    /// Moves a slot with all of its keys.
    public func move(_ slot: Int, from old: RedisServer, to new: RedisServer) async throws {
        try await beginMoving(slot, from: old, to: new)
        try await finishMoving(slot, from: old, to: new)
    }
}
