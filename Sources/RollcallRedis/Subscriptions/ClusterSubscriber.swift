// Subscriptions on a cluster. A channel has the slot of the key with the same name, and is subscribed at the primary
// that has this slot. When the slot moves, the subscription follows.

import Logging
import NIOCore
import RollcallModel

/// Connections for messages to the primaries of a Redis Cluster that have wanted channels, bound to an event loop.
public final class ClusterSubscriber {
    typealias Address = RedisLocation.Address

    let eventLoop: any EventLoop
    var onLost: (([Topic]) -> Void)?
    var onDenied: ((RedisError) -> Void)?
    var onSubscribed: (([Topic]) -> Void)?
    var onMessage: ((Topic, _ payload: ByteBuffer) -> Void)?

    private let route: ClusterRoute
    private let name: String
    private let logger: Logger
    private let settings: ConnectionSettings
    private var map: ClusterMap?
    private var nodes: [RedisLocation.Address: SubscriberConnection] = [:]
    /// Channels requested before there is a map.
    private var early: [BytesKey: Topic] = [:]
    private var isClosed = false
    /// The tally of connections that no longer exist.
    private var past = ConnectionTally()

    init(
        along route: ClusterRoute, name: String, on eventLoop: any EventLoop, logger: Logger,
        settings: ConnectionSettings
    ) {
        (self.route, self.name, self.eventLoop) = (route, name, eventLoop)
        (self.logger, self.settings) = (logger, settings)
    }

    func start() {
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        route.follow(ObjectIdentifier(self)) { [eventLoop] in eventLoop.execute { bound.value.takeMap() } }
    }

    func close() -> EventLoopFuture<Void> {
        isClosed = true
        route.unfollow(ObjectIdentifier(self))
        let last = nodes.values.map { $0.close() }
        (nodes, map) = ([:], nil)
        return EventLoopFuture.andAllSucceed(last, on: eventLoop)
    }

    /// - Returns: whether the channel is already confirmed.
    func subscribe(_ channel: String, as topic: Topic) -> Bool {
        guard let address = map?[KeySlot.of(channel)] else {
            early[BytesKey(channel)] = topic
            return false
        }
        return node(at: address).subscribe(channel, as: topic)
    }

    func unsubscribe(_ channel: String) {
        early[BytesKey(channel)] = nil
        node(with: channel)?.unsubscribe(channel)
    }

    func isConfirmed(_ channel: String) -> Bool { node(with: channel)?.isConfirmed(channel) ?? false }

    var channelCount: Int { nodes.values.reduce(early.count) { $0 + $1.channelCount } }

    /// The number of open connections.
    var connectionCount: Int { nodes.values.count { $0.isConnected } }

    var tally: ConnectionTally { nodes.values.reduce(past) { $0 + $1.tally } }
}

extension ClusterSubscriber {
    private func node(with channel: String) -> SubscriberConnection? {
        map.flatMap { nodes[$0[KeySlot.of(channel)]] }
    }

    private func node(at address: Address) -> SubscriberConnection {
        if let node = nodes[address] { return node }
        let node = SubscriberConnection(
            to: route.way(to: address), name: name, isSharded: true, on: eventLoop, logger: logger, settings: settings)
        nodes[address] = node
        node.onDisconnect = { [weak self, weak node] _ in
            self?.route.look()
            if let node { self?.onLost?(node.topics) }
        }
        node.onAstray = { [weak self] topic in
            self?.route.look()
            self?.onLost?([topic])
        }
        node.onDenied = { [weak self] in self?.onDenied?($0) }
        node.onSubscribed = { [weak self] in self?.onSubscribed?($0) }
        node.onMessage = { [weak self] in self?.onMessage?($0, $1) }
        node.start()
        return node
    }

    /// Moves channels to the primaries that have their slots now. The owner is first notified that they are lost, and
    /// then they are subscribed again.
    private func takeMap() {
        guard !isClosed, let next = route.map else { return }
        map = next
        var moving = early.map { (channel: $0.key.text, topic: $0.value) }
        early = [:]
        for (address, node) in nodes { moving += node.give { next[KeySlot.of($0)] != address } }
        if !moving.isEmpty { onLost?(moving.map(\.topic)) }
        let heard = moving.filter { subscribe($0.channel, as: $0.topic) }
        if !heard.isEmpty { onSubscribed?(heard.map(\.topic)) }
        for address in nodes.keys where !next.primaries.contains(address) { leave(address) }
    }

    private func leave(_ address: Address) {
        guard let node = nodes.removeValue(forKey: address) else { return }
        past = past + node.tally
        _ = node.close()
    }
}
