// Commands for a cluster: each goes to the primary that has its key, and follows redirections.

import Logging
import NIOCore

/// Connections for commands to all primaries of a Redis Cluster, bound to an event loop.
///
/// As with ``CommandConnection``, a command that cannot be sent fails at once. The exception is a node that was just
/// discovered: its commands wait for the first connection attempt.
public final class ClusterCommands {
    private typealias Address = RedisLocation.Address

    let eventLoop: any EventLoop
    var onConnect: (() -> Void)?
    var onDisconnect: ((RedisError) -> Void)?
    var onDenied: ((RedisError) -> Void)?
    var onUnreachable: ((RedisLocation.Address, RedisError) -> Void)?

    private let route: ClusterRoute
    private let name: String
    private let logger: Logger
    private let settings: ConnectionSettings
    /// The scripts in their form for a cluster, by name.
    private let scripts: [String: Script]
    private var map: ClusterMap?
    private var nodes: [RedisLocation.Address: ClusterNode] = [:]
    /// The nodes of the map's primaries, in the map's order.
    private var owners: [ClusterNode] = []
    /// Whether the first connection attempt to every initial primary has ended.
    private var hasBegun = false
    private var isClosed = false
    /// The tally of connections that no longer exist.
    private var past = ConnectionTally()

    init(
        along route: ClusterRoute, name: String, on eventLoop: any EventLoop, logger: Logger,
        settings: ConnectionSettings, scripts: [Script]
    ) {
        (self.route, self.name, self.eventLoop) = (route, name, eventLoop)
        (self.logger, self.settings) = (logger, settings)
        self.scripts = Dictionary(uniqueKeysWithValues: scripts.map { ($0.name, $0.sharded) })
    }

    func start() {
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        route.follow(ObjectIdentifier(self)) { [eventLoop] in eventLoop.execute { bound.value.takeMap() } }
    }

    func close() -> EventLoopFuture<Void> {
        isClosed = true
        route.unfollow(ObjectIdentifier(self))
        let last = nodes.values.map { $0.close() }
        (nodes, owners, map) = ([:], [], nil)
        return EventLoopFuture.andAllSucceed(last, on: eventLoop)
    }
}

// MARK: Nodes

extension ClusterCommands {
    var isConnected: Bool { owners.contains { $0.connection.isConnected } }

    func isConnected(for key: String) -> Bool { node(of: KeySlot.of(key))?.connection.isConnected ?? false }

    var lastError: RedisError? { owners.lazy.compactMap(\.connection.lastError).first }

    /// The number of open connections.
    var connectionCount: Int { nodes.values.count { $0.connection.isConnected } }

    var waitingCount: Int { nodes.values.reduce(0) { $0 + $1.connection.waitingCount + $1.heldCount } }

    var tally: ConnectionTally { nodes.values.reduce(past) { $0 + $1.connection.tally } }

    /// Returns the index of the primary that has a key; `nil` before there is a map.
    func place(of key: String) -> Int? { map?.place(of: KeySlot.of(key)) }

    private func node(of slot: Int) -> ClusterNode? { map.map { owners[$0.place(of: slot)] } }

    private func takeMap() {
        guard !isClosed, let map = route.map else { return }
        self.map = map
        placeOwners()
        for (address, node) in nodes where !map.primaries.contains(address) {
            // A node that receives slots is sent commands before it appears in the map as a primary.
            if node.wasAsked { node.wasAsked = false } else { leave(address) }
        }
        // The last pending node may be one that was just removed.
        begin()
    }

    private func placeOwners() {
        owners = (map?.primaries ?? []).map { node(at: $0) }
    }

    private func node(at address: Address) -> ClusterNode {
        if let node = nodes[address] { return node }
        let connection = CommandConnection(
            to: route.way(to: address), name: name, on: eventLoop, logger: logger, settings: settings,
            scripts: Array(scripts.values))
        let node = ClusterNode(address, connection)
        nodes[address] = node
        connection.onConnect = { [weak self, weak node] in if let node { self?.decided(node) } }
        connection.onFailedAttempt = { [weak self, weak node] in if let node { self?.missed(node, $0) } }
        connection.onDisconnect = { [weak self] error in
            self?.route.look()
            self?.onDisconnect?(error)
        }
        connection.onDenied = { [weak self] in self?.onDenied?($0) }
        connection.start()
        return node
    }

    /// Handles the end of a connection attempt, successful or not.
    private func decided(_ node: ClusterNode) {
        node.release()
        if node.connection.isConnected { node.isKnownAway = false } else { route.look() }
        guard hasBegun else { return begin() }
        if node.connection.isConnected, owners.contains(where: { $0 === node }) { onConnect?() }
    }

    private func missed(_ node: ClusterNode, _ error: RedisError) {
        if !node.isKnownAway, nodes[node.address] === node { onUnreachable?(node.address, error) }
        node.isKnownAway = true
        decided(node)
    }

    /// Reports the first connection once every primary was reached or tried.
    private func begin() {
        guard !hasBegun, !owners.isEmpty, owners.allSatisfy(\.isDecided) else { return }
        hasBegun = true
        if isConnected { onConnect?() }
    }

    private func leave(_ address: Address) {
        guard let node = nodes.removeValue(forKey: address) else { return }
        past = past + node.connection.tally
        node.connection.reconnect(RedisError(.primaryChanged, "this node is no primary now"))
        _ = node.close()
    }
}

// MARK: Sending

extension ClusterCommands {
    func send(
        _ command: RedisCommand, slot: Int, reply: @escaping (Result<RedisValue, RedisError>) -> Void
    ) {
        send(ClusterErrand(slot: slot, label: command.name, task: .command(command), reply: reply))
    }

    func call(
        _ script: Script, keys: [String], arguments: [RedisCommand.Argument],
        reply: @escaping (Result<RedisValue, RedisError>) -> Void
    ) {
        guard let sharded = scripts[script.name], let key = keys.first else {
            preconditionFailure("a script is called that was handed over, with a key")
        }
        send(
            ClusterErrand(
                slot: KeySlot.of(key), label: script.label, task: .script(sharded, keys, arguments), reply: reply))
    }

    /// Groups these names by the connection that serves their slot. All names must end in their tag.
    func shares(of names: some Collection<TaggedKey>) -> [ObjectIdentifier: (
        connection: CommandConnection, places: [Int]
    )] {
        var shares: [ObjectIdentifier: (connection: CommandConnection, places: [Int])] = [:]
        for (place, name) in names.enumerated() {
            guard let node = node(of: KeySlot.of(tag: name.tag)) else { continue }
            shares[ObjectIdentifier(node), default: (node.connection, [])].places.append(place)
        }
        return shares
    }

    private func send(_ errand: ClusterErrand) {
        guard let node = node(of: errand.slot) else {
            return errand.reply(.failure(.notSent(errand.label, because: lastError)))
        }
        run(errand, at: node)
    }

    private func run(_ errand: ClusterErrand, at node: ClusterNode, isAsked: Bool = false) {
        guard node.isDecided else {
            guard node.heldCount < settings.maximumWaiting else {
                let sentence = "\(settings.maximumWaiting) commands wait for a connection already"
                return errand.reply(.failure(RedisError(.tooManyWaiting, command: errand.label, sentence)))
            }
            return node.hold { self.run(errand, at: node, isAsked: isAsked) }
        }
        errand.run(on: node.connection, isAsked: isAsked) { self.answered($0, errand, by: node) }
    }

    private func answered(_ result: Result<RedisValue, RedisError>, _ errand: ClusterErrand, by node: ClusterNode) {
        guard case .failure(let error) = result, errand.hops < Redirection.most, !isClosed,
            let redirection = Redirection(error, from: node.address)
        else { return errand.reply(result) }
        var errand = errand
        errand.hops += 1
        switch redirection {
        case .moved(let slot, let address):
            moved(slot, to: address)
            send(errand)
        case .asked(_, let address):
            let target = self.node(at: address)
            target.wasAsked = true
            run(errand, at: target, isAsked: true)
        }
    }

    private func moved(_ slot: Int, to address: Address) {
        guard map?[slot] != address else { return }
        map?.moved(slot, to: address)
        placeOwners()
        route.look()
    }
}
