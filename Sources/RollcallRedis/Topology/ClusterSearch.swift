// Keeps the map of a cluster current. One node is asked for it, twice per second and after each redirection or lost
// connection. If its reply is not usable, the next node is asked. Each worker starts with a random node, so that no
// single node serves all workers.

import Logging
import NIOCore
import RollcallProtocol

/// Asks the nodes of a cluster for the map.
final class ClusterSearch: TopologySearch {
    private typealias Address = RedisLocation.Address

    /// The state of a cluster, as one node reports it (`CLUSTER INFO`).
    enum Health {
        case well
        /// The majority agrees that a primary is lost. No other node knows better, and this one will learn of the
        /// replacement.
        case lacksPrimary
        /// The node may be in a minority partition, while other nodes go on.
        case cutOff

        init(_ info: ByteString) {
            let facts = info.parts(at: "\n").map { $0.parts(at: "\r")[0].cut(at: ":") }
            func fact(_ name: ByteString) -> ByteString? { facts.first { $0?.before == name }??.after }
            switch (fact("cluster_state"), fact("cluster_slots_pfail")) {
            case ("ok", _): self = .well
            case (_, "0"): self = .lacksPrimary
            default: self = .cutOff
            }
        }
    }

    private let eventLoop: any EventLoop
    private let logger: Logger
    private let connect: (RedisLocation.Address) -> CommandConnection
    private let found: (Result<SlotMap, RedisError>) -> Void
    /// The nodes in the configuration.
    private let seeds: [Address]

    private var map: SlotMap?
    /// The nodes to ask; the first one is asked now.
    private var nodes: [Address]
    private var asks: CommandConnection?
    private var polls: RepeatedTask?
    private var isAsking = false
    private var isToAskAgain = false
    /// Whether nodes refuse to say how they are.
    private var isSilent = false
    /// The number of nodes in a row that were not usable.
    private var misses = 0

    private static let interval = TimeAmount.milliseconds(500)
    /// The delay before a repeated request that was made during the previous one, and before the next node.
    private static let pause = TimeAmount.milliseconds(50)

    init(
        from seeds: [RedisLocation.Address], on eventLoop: any EventLoop, logger: Logger,
        connect: @escaping (RedisLocation.Address) -> CommandConnection,
        found: @escaping (Result<SlotMap, RedisError>) -> Void
    ) {
        (self.seeds, nodes) = (seeds, seeds.shuffled())
        (self.eventLoop, self.logger, self.connect, self.found) = (eventLoop, logger, connect, found)
    }

    func start() {
        open()
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        polls = eventLoop.scheduleRepeatedTask(initialDelay: Self.interval, delay: Self.interval) { _ in
            bound.value.ask()
        }
    }

    func close() -> EventLoopFuture<Void> {
        polls?.cancel()
        polls = nil
        defer { asks = nil }
        return asks?.close() ?? eventLoop.makeSucceededVoidFuture()
    }

    func look() {
        if isAsking { isToAskAgain = true } else { ask() }
    }

    private func open() {
        let asks = connect(nodes[0])
        self.asks = asks
        asks.onConnect = { [weak self] in self?.ask() }
        asks.onFailedAttempt = { [weak self] in self?.goOn($0) }
        asks.onDisconnect = { [weak self] in self?.goOn($0) }
        asks.start()
    }

    /// Continues with the next node, because this one is not usable.
    private func goOn(_ error: RedisError) {
        guard let last = asks else { return }
        logger.debug("a node of the cluster is of no use", metadata: ["error": "\(error)"])
        (asks, isAsking) = (nil, false)
        _ = last.close()
        nodes.append(nodes.removeFirst())
        misses += 1
        if misses >= nodes.count { found(.failure(error)) }
        after { search in if search.polls != nil { search.open() } }
    }

    private func after(_ body: @escaping (ClusterSearch) -> Void) {
        let bound = NIOLoopBound((self, body), eventLoop: eventLoop)
        eventLoop.scheduleTask(in: Self.pause) {
            let (search, body) = bound.value
            body(search)
        }
    }

    private func ask() {
        guard let asks, asks.isConnected, !isAsking else { return }
        isAsking = true
        var health = Health.cutOff
        asks.send(RedisCommand("CLUSTER", "INFO")) { [weak self] answer in
            switch answer {
            case .success(let info): health = info.text.map(Health.init) ?? .cutOff
            case .failure(let error):
                // Where nobody may ask for it, each node is believed.
                guard error.isDenied || error.isUnknownCommand else { return }
                health = .well
                self?.noteSilence(error)
            }
        }
        asks.send(RedisCommand("CLUSTER", "SLOTS")) { [weak self] in self?.answered($0, health) }
    }

    private func noteSilence(_ error: RedisError) {
        guard !isSilent else { return }
        isSilent = true
        logger.warning(
            "nodes of the cluster do not say how they are; each is believed", metadata: ["reason": "\(error)"])
    }

    private func answered(_ answer: Result<RedisValue, RedisError>, _ health: Health) {
        isAsking = false
        let node = nodes[0]
        switch answer {
        case .success(let slots):
            guard let next = SlotMap(slots, from: node, after: map) else {
                return goOn(RedisError(.connectFailed, "the node \(node) knows of no slots"))
            }
            // A node that is cut off may report an old map. Without any map, that is better than nothing.
            if health == .well || map == nil { adopt(next) }
            if health == .cutOff {
                return goOn(RedisError(.server(kind: "CLUSTERDOWN"), "the cluster is down, says \(node)"))
            }
            guard isToAskAgain else { return }
            isToAskAgain = false
            after { $0.ask() }
        case .failure(let error):
            // All other errors are reported as the end of the connection.
            guard case .server = error.code else { return }
            goOn(
                RedisError(
                    .connectFailed, "\(node) does not say which node has what: \(error)", underlying: error))
        }
    }

    private func adopt(_ next: SlotMap) {
        misses = 0
        let known = next.primaries + next.replicas
        nodes = [nodes[0]] + (known + seeds.filter { !known.contains($0) }).filter { $0 != nodes[0] }
        guard map != next else { return }
        if map.map(next.hasSlots) != true {
            let primaries = next.primaries.map { "\($0)" }.joined(separator: ", ")
            logger.info("slots of the cluster", metadata: ["primaries": "\(primaries)"])
        }
        map = next
        found(.success(next))
    }
}
