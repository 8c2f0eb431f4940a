// Messages of a cluster: a channel lies in the slot of the key whose change it tells, and is heard at the primary that has
// that. When the slot goes elsewhere, so does the subscription.

import Logging
import NIOCore
import RollcallModel

/// A connection for messages to each primary of a Redis Cluster that has wanted channels, bound to an event loop.
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
    /// What is wanted before there is a map.
    private var early: [BytesKey: Topic] = [:]
    private var isClosed = false
    /// What connections did that are no more.
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

    /// - Returns: whether it is confirmed already.
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

    /// How many connections stand.
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

    /// Each channel goes to who has its slot now. First all are told that these are not heard, then they are asked for.
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
