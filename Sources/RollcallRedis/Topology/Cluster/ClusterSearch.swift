// Keeps the map of a cluster current. One node is asked for it, twice per second and after each redirection or lost
// connection. If its reply is not usable, the next node is asked.

import Logging
import NIOCore

/// Requests the map as long as it exists. Bound to its event loop.
final class ClusterSearch: ServerSearch {
    private typealias Address = RedisLocation.Address

    private let eventLoop: any EventLoop
    private let logger: Logger
    private let found: (ClusterMap) -> Void
    private let ring: ClusterRing
    private let asks: CommandConnection

    private var map: ClusterMap?
    /// The node that last provided the map; `nil` once its connection was lost.
    private var giver: Address?
    private var waiting: [EventLoopPromise<RedisLocation.Address>] = []
    private var deadline: Scheduled<Void>?
    private var polls: RepeatedTask?
    private var isAsking = false
    private var isToAskAgain = false
    /// The number of nodes that were not usable since a request began to wait.
    private var misses = 0
    private var lastError: RedisError?

    /// - Parameter found: called with each map that differs from the previous one.
    init(
        of deployment: RedisDeployment, credentials: @escaping Credentials.Source, for client: String,
        on eventLoop: any EventLoop, logger: Logger, found: @escaping (ClusterMap) -> Void
    ) {
        guard case .cluster(let seeds) = deployment.topology else {
            preconditionFailure("the map of a cluster is asked for where there is one")
        }
        (self.eventLoop, self.logger, self.found) = (eventLoop, logger, found)
        ring = ClusterRing(seeds, of: deployment, credentials: credentials)
        let settings = ConnectionSettings(pingEvery: .milliseconds(500), deadAfter: .milliseconds(1500))
        asks = CommandConnection(to: ring, name: "\(client)-asks", on: eventLoop, logger: logger, settings: settings)
    }

    func start() {
        asks.onConnect = { [weak self] in self?.ask() }
        asks.onFailedAttempt = { [weak self] in self?.missed($0) }
        asks.onDisconnect = { [weak self] in self?.missed($0) }
        asks.start()
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        polls = eventLoop.scheduleRepeatedTask(initialDelay: Self.interval, delay: Self.interval) { _ in
            bound.value.ask()
        }
    }

    func close() -> EventLoopFuture<Void> {
        polls?.cancel()
        settle(.failure(RedisError(.closed, "the search for servers was ended")))
        return asks.close()
    }

    /// Finds any node that answers.
    func find(_ promise: EventLoopPromise<RedisLocation.Address>) {
        if let giver { return promise.succeed(giver) }
        waiting.append(promise)
        guard waiting.count == 1 else { return }
        (misses, lastError) = (0, nil)
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        deadline = eventLoop.scheduleTask(in: Self.patience) { bound.value.giveUp() }
    }

    /// Requests the map, because it may have changed.
    func look() {
        if isAsking { isToAskAgain = true } else { ask() }
    }

    private static let interval = TimeAmount.milliseconds(500)
    /// How long a request waits for a node before it fails.
    private static let patience = TimeAmount.milliseconds(1500)
    /// The delay before a repeated request that was made during the previous one.
    private static let pause = TimeAmount.milliseconds(50)
}

extension ClusterSearch {
    private func ask() {
        guard asks.isConnected, !isAsking else { return }
        isAsking = true
        var health = ClusterHealth.cutOff
        asks.send(RedisCommand("CLUSTER", "INFO")) { answer in
            if let info = (try? answer.get())?.string { health = ClusterHealth(info) }
        }
        asks.send(RedisCommand("CLUSTER", "SLOTS")) { [weak self] in self?.answered($0, health) }
    }

    private func answered(_ answer: Result<RedisValue, RedisError>, _ health: ClusterHealth) {
        isAsking = false
        switch answer {
        case .success(let slots):
            guard let next = ClusterMap(slots, from: ring.current, after: map) else {
                return goOn(RedisError(.connectFailed, "the node \(ring.current) knows of no slots"))
            }
            // A node that is cut off may report an old map. Without any map, that is better than nothing.
            if health == .well || map == nil { adopt(next) }
            let error = RedisError(.server(kind: "CLUSTERDOWN"), "the cluster is down, says \(ring.current)")
            switch health {
            case .well: askAgain()
            case .lacksPrimary:
                lastError = error
                askAgain()
            case .cutOff: goOn(error)
            }
        case .failure(let error):
            // All other errors are reported as the end of the connection.
            guard case .server = error.code else { return }
            goOn(
                RedisError(
                    .connectFailed, "\(ring.current) does not say which node has what: \(error)", underlying: error))
        }
    }

    private func adopt(_ next: ClusterMap) {
        giver = ring.current
        ring.learn(next.primaries + next.replicas)
        if map != next {
            map = next
            found(next)
        }
        settle(.success(ring.current))
    }

    private func askAgain() {
        guard isToAskAgain else { return }
        isToAskAgain = false
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        eventLoop.scheduleTask(in: Self.pause) { bound.value.ask() }
    }

    /// Continues with the next node, because this one is not usable.
    private func goOn(_ error: RedisError) {
        logger.debug("a node of the cluster is of no use", metadata: ["error": "\(error)"])
        asks.reconnect(error)
    }

    private func missed(_ error: RedisError) {
        (isAsking, giver, lastError) = (false, nil, error)
        misses += 1
        if misses >= ring.count { giveUp() }
    }

    private func giveUp() {
        misses = 0
        settle(.failure(lastError ?? RedisError(.connectFailed, "no node of the cluster answers")))
    }

    private func settle(_ result: Result<RedisLocation.Address, any Error>) {
        deadline?.cancel()
        deadline = nil
        let settled = waiting
        waiting = []
        for promise in settled { promise.completeWith(result) }
    }
}
