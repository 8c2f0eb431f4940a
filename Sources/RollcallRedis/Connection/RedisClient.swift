// Commands for a deployment: each goes to the primary that has its key. A single server is a cluster of one.

public import Logging
public import NIOCore
import RollcallProtocol

/// Connections for commands to all primaries of a deployment, bound to an event loop.
///
/// As with ``CommandConnection``, a command that cannot be sent fails at once, and all closures are called on the event
/// loop.
public final class RedisClient {
    typealias Reply = CommandConnection.Reply
    private typealias Address = RedisLocation.Address

    private final class Node {
        let connection: CommandConnection
        /// Whether the first connection attempt has ended.
        var isDecided = false

        init(_ connection: CommandConnection) { self.connection = connection }
    }

    let eventLoop: any EventLoop
    /// Called after each connect. It is first called when every primary was tried once and at least one was reached,
    /// and then for each new connection to a primary.
    public var onConnect: (() -> Void)?
    /// Called when a connection is lost, or left because the primary changed; not called when the owner closes it.
    public var onDisconnect: ((RedisError) -> Void)?
    /// Called when a primary cannot be reached or refuses the connection: after each attempt.
    public var onUnreachable: ((_ primary: RedisLocation.Address, RedisError) -> Void)?
    /// Called when Redis denies a command because of a missing right, before the command's reply is delivered.
    public var onDenied: ((RedisError) -> Void)?
    /// Whether keys are spread over several servers, each of which may be away alone.
    public let isSpread: Bool

    private let topology: Topology
    private let name: String
    private let logger: Logger
    private let settings: ConnectionSettings
    /// The scripts in the form of this deployment, by name.
    private let scripts: [String: Script]
    private var map: SlotMap?
    private var nodes: [RedisLocation.Address: Node] = [:]
    /// The connections to the map's primaries, in the map's order.
    private var owners: [CommandConnection] = []
    private var hasBegun = false
    private var isClosed = false
    /// The tally of connections that no longer exist.
    private var past = ConnectionTally()

    /// - Parameters:
    ///   - name: the connections' name in `CLIENT LIST`; without spaces.
    ///   - scripts: loaded on each connect. Only these can be called.
    public init(
        of topology: Topology, name: String, on eventLoop: any EventLoop, logger: Logger,
        settings: ConnectionSettings = ConnectionSettings(), scripts: [Script] = []
    ) {
        (self.topology, isSpread, self.name, self.eventLoop) = (topology, topology.isCluster, name, eventLoop)
        (self.logger, self.settings) = (logger, settings)
        self.scripts = Dictionary(
            uniqueKeysWithValues: scripts.map { ($0.name, topology.isCluster ? $0.sharded : $0) })
    }

    /// A client of a single server over a connection that its owner opens and closes, for measurements.
    package convenience init(over connection: CommandConnection, of topology: Topology, scripts: [Script]) {
        self.init(
            of: topology, name: "", on: connection.eventLoop, logger: Logger(label: "measured"), scripts: scripts)
        owners = [connection]
    }

    /// Connects, and from then on follows the topology. Must be called once.
    public func start() {
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        topology.follow(ObjectIdentifier(self)) { [eventLoop] in eventLoop.execute { bound.value.takeMap() } }
        takeMap()
    }

    /// Closes the connections for good.
    public func close() -> EventLoopFuture<Void> {
        isClosed = true
        topology.unfollow(ObjectIdentifier(self))
        let last = nodes.values.map { $0.connection.close() }
        (nodes, owners, map) = ([:], [], nil)
        return EventLoopFuture.andAllSucceed(last, on: eventLoop)
    }
}

// MARK: State

extension RedisClient {
    /// Drops the connections, which then connect again.
    package func reconnect(because error: RedisError) {
        for node in nodes.values { node.connection.connection.drop(error) }
    }

    /// Whether commands for this key can be sent.
    public func isConnected(for key: String) -> Bool { connection(for: key)?.isConnected ?? false }

    /// The address of the single server to which there is a connection.
    package var serverAddress: SocketAddress? { isSpread ? nil : owners.first?.connection.address }

    /// Why there is no connection at this moment; with several primaries, one of the reasons.
    public var lastError: RedisError? { owners.lazy.compactMap(\.lastError).first ?? topology.error }

    /// Whether there is a connection, by primary.
    package var links: [RedisLocation.Address: Bool] { nodes.mapValues(\.connection.isConnected) }

    /// The number of open connections.
    public var connectionCount: Int { nodes.values.count { $0.connection.isConnected } }

    /// The number of commands that wait for their replies.
    public var waitingCount: Int { nodes.values.reduce(0) { $0 + $1.connection.waitingCount } }

    /// Counters of the connections.
    package var tally: ConnectionTally { nodes.values.reduce(past) { $0 + $1.connection.connection.tally } }

    /// Returns the index of the primary that has a key, valid until the map changes; `nil` if there is only one.
    func place(of key: String) -> Int? { isSpread ? map?.place(of: KeySlot.of(key)) : nil }

    func connection(for key: String) -> CommandConnection? {
        isSpread ? map.map { owners[$0.place(of: KeySlot.of(key))] } : owners.first
    }
}

// MARK: Nodes

extension RedisClient {
    private func takeMap() {
        guard !isClosed, let map = topology.map, map != self.map else { return }
        self.map = map
        owners = map.primaries.map { node(at: $0).connection }
        for (address, node) in nodes where !map.primaries.contains(address) {
            nodes[address] = nil
            past = past + node.connection.connection.tally
            _ = node.connection.close(RedisError(.primaryChanged, "the primary is another server now"))
        }
        // The last node that was not decided may be one that was just removed.
        begin()
    }

    private func node(at address: Address) -> Node {
        if let node = nodes[address] { return node }
        let connection = CommandConnection(
            to: topology.endpoint(at: address), name: name, on: eventLoop, logger: logger, settings: settings,
            scripts: Array(scripts.values))
        let node = Node(connection)
        nodes[address] = node
        connection.onConnect = { [weak self, weak node] in
            guard let self, let node else { return }
            node.isDecided = true
            if hasBegun { onConnect?() } else { begin() }
        }
        connection.onFailedAttempt = { [weak self, weak node] in
            if let node { self?.missed(node, at: address, $0) }
        }
        connection.onDisconnect = { [weak self] error in
            self?.topology.look()
            self?.onDisconnect?(error)
        }
        connection.onDenied = { [weak self] in self?.onDenied?($0) }
        connection.start()
        return node
    }

    private func missed(_ node: Node, at address: Address, _ error: RedisError) {
        if nodes[address] === node { onUnreachable?(address, error) }
        node.isDecided = true
        topology.look()
        begin()
    }

    private func begin() {
        guard !hasBegun, !nodes.isEmpty, nodes.values.allSatisfy(\.isDecided), connectionCount > 0 else { return }
        hasBegun = true
        onConnect?()
    }
}

// MARK: Sending

extension RedisClient {
    /// Sends a command whose first argument is its key.
    package func send(_ command: RedisCommand, reply: @escaping (Result<RedisValue, RedisError>) -> Void) {
        guard case .string(let key)? = command.arguments.first else {
            preconditionFailure("a command begins with its key")
        }
        send(command, to: key, reply: reply)
    }

    /// Sends a command to the server that has this key.
    func send(_ command: RedisCommand, to key: String, reply: @escaping Reply) {
        guard let connection = connection(for: key) else {
            return reply(.failure(.notSent(command.name, because: lastError)))
        }
        guard isSpread else { return connection.send(command, reply: reply) }
        connection.send(command) { [weak self] in
            self?.answered($0, command, label: command.name, or: reply)
        }
    }

    /// Publishes a message.
    func publish(_ payload: String, on channel: String, reply: @escaping Reply) {
        send(RedisCommand(isSpread ? "SPUBLISH" : "PUBLISH", .string(channel), .string(payload)), reply: reply)
    }

    /// Runs a script whose keys are all in one slot.
    func call(_ script: Script, keys: [String], arguments: [RedisCommand.Argument], reply: @escaping Reply) {
        guard let script = scripts[script.name], let key = keys.first else {
            preconditionFailure("a script is called that was handed over, with a key")
        }
        guard let connection = connection(for: key) else {
            return reply(.failure(.notSent(script.label, because: lastError)))
        }
        guard isSpread else { return connection.call(script, keys: keys, arguments: arguments, reply: reply) }
        connection.call(script, keys: keys, arguments: arguments) { [weak self] in
            let whole = script.call("EVAL", script.source, keys, arguments)
            self?.answered($0, whole, label: script.label, or: reply)
        }
    }

    /// Groups these names by the connection to the server that has them. All names must end in their tag.
    func groups(of names: some Collection<TaggedKey>) -> [(connection: CommandConnection, places: [Int])] {
        guard isSpread, let map else { return owners.first.map { [($0, Array(0..<names.count))] } ?? [] }
        var places: [Int: [Int]] = [:]
        for (place, name) in names.enumerated() {
            places[map.place(of: KeySlot.of(tag: name.tag)), default: []].append(place)
        }
        return places.map { (owners[$0.key], $0.value) }
    }

    /// Follows a redirection, once. Until the map is read again, a slot that has moved costs one more round trip.
    private func answered(
        _ result: Result<RedisValue, RedisError>, _ command: RedisCommand, label: String, or reply: @escaping Reply
    ) {
        guard !isClosed, case .failure(let error) = result, let redirection = Redirection(error) else {
            return reply(result)
        }
        if redirection.isPermanent { topology.look() }
        guard let target = redirection.target(from: map?.primaries.first) else { return reply(result) }
        // A node that is not in the map yet is connected to now; until then, commands fail.
        let connection = node(at: target).connection
        if redirection.isPermanent {
            connection.send(command, label: label, reply: reply)
        } else {
            // The node accepts this one command.
            connection.send(label, count: 2) { place, output in
                output.write(place == 0 ? RedisCommand("ASKING") : command)
            } reply: { place, result in
                if place == 1 { reply(result.map(\.tree)) }
            }
        }
    }
}

/// The reply of a cluster node about a slot that it does not have, or that is moving away.
struct Redirection {
    /// Whether another node has the slot now. Otherwise the slot is moving there, and it has this key already or is
    /// about to receive it.
    let isPermanent: Bool
    private let host: ByteString
    private let port: Int

    /// Parses an error: `MOVED 3999 10.0.0.1:6381`, or the same with `ASK`.
    ///
    /// - Returns: `nil` for any other error.
    init?(_ error: RedisError) {
        guard error.code == .server(kind: "MOVED") || error.code == .server(kind: "ASK"),
            let words = error.reply?.parts(at: " "), words.count == 3,
            let (host, digits) = words[2].cut(atLast: ":"), let port = Int(decimal: digits), (1...65_535).contains(port)
        else { return nil }
        (isPermanent, self.host, self.port) = (words[0] == "MOVED", host, port)
    }

    /// The node to go to, as the node at `server` names it.
    func target(from server: RedisLocation.Address?) -> RedisLocation.Address? { server?.called(host, port: port) }
}
