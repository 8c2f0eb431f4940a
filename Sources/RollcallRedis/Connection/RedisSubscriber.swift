// Channels of a deployment. On a cluster, a channel has the slot of the key with the same name, and is subscribed at
// the primary that has this slot. When the primary changes, the subscription follows.

public import Logging
public import NIOCore
public import RollcallProtocol

/// Connections for messages to the primaries that have wanted channels, bound to an event loop. All closures are called
/// there.
public final class RedisSubscriber {
    private typealias Address = RedisLocation.Address

    let eventLoop: any EventLoop
    /// Called with wanted topics, which may have been confirmed, that receive no messages until they are confirmed
    /// again: with a single server all of them, on a cluster those of one primary, or of a slot that moves.
    public var onLost: (([Topic]) -> Void)?
    /// Called when a connection is lost, after ``onLost``.
    public var onDisconnect: ((RedisError) -> Void)?
    /// Called when a primary cannot be reached or refuses the connection: after each attempt.
    public var onUnreachable: ((_ primary: RedisLocation.Address, RedisError) -> Void)?
    /// Called when Redis denies a subscription because of a missing right.
    public var onDenied: ((RedisError) -> Void)?
    /// Called with the topics of wanted channels when their subscriptions are confirmed, also after each reconnect. A
    /// read of a topic's state that starts after this misses no change.
    public var onSubscribed: (([Topic]) -> Void)?
    /// Called for each message on a wanted channel. The payload's memory is reused for the next message, unless the
    /// callee keeps a reference. Set before ``start()``.
    public var onMessage: ((Topic, _ payload: ByteBuffer) -> Void)?

    private let topology: Topology
    private let name: String
    private let logger: Logger
    private let settings: ConnectionSettings
    private var map: SlotMap?
    private var nodes: [RedisLocation.Address: SubscriberConnection] = [:]
    /// Channels requested before there is a map.
    private var early: [BytesKey: Topic] = [:]
    private var isClosed = false
    /// The tally of connections that no longer exist.
    private var past = ConnectionTally()

    /// - Parameter name: the connections' name in `CLIENT LIST`; without spaces.
    public init(
        of topology: Topology, name: String, on eventLoop: any EventLoop, logger: Logger,
        settings: ConnectionSettings = ConnectionSettings()
    ) {
        (self.topology, self.name, self.eventLoop) = (topology, name, eventLoop)
        (self.logger, self.settings) = (logger, settings)
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
        let last = nodes.values.map { $0.close() }
        (nodes, map) = ([:], nil)
        return EventLoopFuture.andAllSucceed(last, on: eventLoop)
    }

    /// Subscribes to a channel. One that is already wanted is confirmed anew, and its messages come meanwhile.
    ///
    /// - Parameter topic: identifies the channel in confirmations and messages.
    /// - Returns: whether the channel is already confirmed.
    @discardableResult
    public func subscribe(_ channel: String, as topic: Topic) -> Bool {
        guard let address = address(of: channel) else {
            early[BytesKey(channel)] = topic
            return false
        }
        return node(at: address).subscribe(channel, as: topic)
    }

    /// Unsubscribes from a channel; its messages are no longer delivered. Unsubscribing and subscribing again in the
    /// same event-loop tick sends nothing.
    public func unsubscribe(_ channel: String) {
        early[BytesKey(channel)] = nil
        address(of: channel).flatMap { nodes[$0] }?.unsubscribe(channel)
    }

    /// Whether a channel is wanted and Redis has confirmed its last command about it.
    public func isConfirmed(_ channel: String) -> Bool {
        address(of: channel).flatMap { nodes[$0] }?.isConfirmed(channel) ?? false
    }

    /// Sends a ping to the single server.
    ///
    /// - Parameter answered: called when its reply arrives; never, if the connection is lost before.
    package func ping(_ answered: @escaping () -> Void) { nodes.values.first?.ping(answered) }

    /// Drops the connections, which then connect again.
    package func reconnect(because error: RedisError) {
        for node in nodes.values { node.connection.drop(error) }
    }

    /// The number of channels that are subscribed, or are to be.
    package var channelCount: Int { nodes.values.reduce(early.count) { $0 + $1.channelCount } }

    /// Whether there is a connection, by primary.
    package var links: [RedisLocation.Address: Bool] { nodes.mapValues(\.isConnected) }

    /// Why a connection is missing at this moment; with several, one of the reasons.
    package var lastError: RedisError? { nodes.values.lazy.compactMap(\.lastError).first }

    /// The number of open connections.
    public var connectionCount: Int { nodes.values.count { $0.isConnected } }

    /// Counters of the connections.
    package var tally: ConnectionTally { nodes.values.reduce(past) { $0 + $1.connection.tally } }
}

extension RedisSubscriber {
    private func address(of channel: String) -> Address? {
        map.map { topology.isCluster ? $0[KeySlot.of(channel)] : $0.primaries[0] }
    }

    private func node(at address: Address) -> SubscriberConnection {
        if let node = nodes[address] { return node }
        let node = SubscriberConnection(
            to: topology.endpoint(at: address), name: name, isSharded: topology.isCluster, on: eventLoop,
            logger: logger, settings: settings)
        nodes[address] = node
        node.onDisconnect = { [weak self, weak node] error in
            self?.topology.look()
            if let node { self?.onLost?(node.topics) }
            self?.onDisconnect?(error)
        }
        node.onFailedAttempt = { [weak self] in self?.onUnreachable?(address, $0) }
        node.onAstray = { [weak self] topic in
            self?.topology.look()
            self?.onLost?([topic])
        }
        node.onDenied = { [weak self] in self?.onDenied?($0) }
        node.onSubscribed = { [weak self] in self?.onSubscribed?($0) }
        node.onMessage = onMessage
        node.start()
        return node
    }

    /// Moves channels to the primaries that have them now. The owner is first notified that they are lost, and then
    /// they are subscribed again.
    private func takeMap() {
        guard !isClosed, let next = topology.map, next != map else { return }
        map = next
        // A single server has a connection even without channels: its loss is noticed before there are any.
        if !topology.isCluster { _ = node(at: next.primaries[0]) }
        var moving = early.map { (channel: $0.key.text, topic: $0.value) }
        early = [:]
        for (address, node) in nodes { moving += node.give { self.address(of: $0) != address } }
        if !moving.isEmpty { onLost?(moving.map(\.topic)) }
        let confirmed = moving.filter { subscribe($0.channel, as: $0.topic) }
        if !confirmed.isEmpty { onSubscribed?(confirmed.map(\.topic)) }
        for (address, node) in nodes where !next.primaries.contains(address) {
            nodes[address] = nil
            past = past + node.connection.tally
            _ = node.close()
        }
    }
}
