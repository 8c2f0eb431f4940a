// Subscriptions for any kind of Redis deployment. The caller need not know which server has a channel.

public import Logging
public import NIOCore
public import RollcallModel

/// The channels of a Redis deployment, bound to an event loop.
public enum RedisSubscriber {
    /// One server has all channels.
    case server(SubscriberConnection)
    /// Each of several primaries has a part of the channels.
    case cluster(ClusterSubscriber)

    /// - Parameters:
    ///   - route: provides the destinations.
    ///   - name: the connections' name in `CLIENT LIST`; without spaces.
    public init(
        along route: any RedisRoute, name: String, on eventLoop: any EventLoop, logger: Logger,
        settings: ConnectionSettings = ConnectionSettings()
    ) {
        if let cluster = route.cluster {
            self = .cluster(
                ClusterSubscriber(along: cluster, name: name, on: eventLoop, logger: logger, settings: settings))
        } else {
            self = .server(
                SubscriberConnection(to: route, name: name, on: eventLoop, logger: logger, settings: settings))
        }
    }

    /// Connects, and from then on reconnects. Must be called once.
    public func start() {
        switch self {
        case .server(let connection): connection.start()
        case .cluster(let cluster): cluster.start()
        }
    }

    /// Closes the connections for good.
    public func close() -> EventLoopFuture<Void> {
        switch self {
        case .server(let connection): connection.close()
        case .cluster(let cluster): cluster.close()
        }
    }

    /// See ``SubscriberConnection/subscribe(_:as:)``.
    @discardableResult
    public func subscribe(_ channel: String, as topic: Topic) -> Bool {
        switch self {
        case .server(let connection): connection.subscribe(channel, as: topic)
        case .cluster(let cluster): cluster.subscribe(channel, as: topic)
        }
    }

    /// See ``SubscriberConnection/unsubscribe(_:)``.
    public func unsubscribe(_ channel: String) {
        switch self {
        case .server(let connection): connection.unsubscribe(channel)
        case .cluster(let cluster): cluster.unsubscribe(channel)
        }
    }

    /// See ``SubscriberConnection/isConfirmed(_:)``.
    public func isConfirmed(_ channel: String) -> Bool {
        switch self {
        case .server(let connection): connection.isConfirmed(channel)
        case .cluster(let cluster): cluster.isConfirmed(channel)
        }
    }
}

// MARK: Events and state

extension RedisSubscriber {
    /// Channels that receive no messages until they are confirmed again.
    public enum Lost {
        case everything
        case topics([Topic])
    }

    /// Sets a closure to call when wanted channels, which may have been confirmed, stop receiving messages: with a
    /// single server all of them, on a cluster those of one primary, or of a slot that moves.
    public func whenLost(_ lost: @escaping (Lost) -> Void) {
        switch self {
        case .server(let connection): connection.onDisconnect = { _ in lost(.everything) }
        case .cluster(let cluster): cluster.onLost = { lost(.topics($0)) }
        }
    }

    /// Sets a closure to call when Redis denies a subscription because of a missing right.
    public func whenDenied(_ denied: @escaping (RedisError) -> Void) {
        switch self {
        case .server(let connection): connection.onDenied = denied
        case .cluster(let cluster): cluster.onDenied = denied
        }
    }

    /// Sets the closure to call for ``SubscriberConnection/onSubscribed``.
    public func whenSubscribed(_ subscribed: @escaping ([Topic]) -> Void) {
        switch self {
        case .server(let connection): connection.onSubscribed = subscribed
        case .cluster(let cluster): cluster.onSubscribed = subscribed
        }
    }

    /// Sets the closure to call for ``SubscriberConnection/onMessage``.
    public func whenHeard(_ heard: @escaping (Topic, ByteBuffer) -> Void) {
        switch self {
        case .server(let connection): connection.onMessage = heard
        case .cluster(let cluster): cluster.onMessage = heard
        }
    }

    /// The number of open connections.
    public var connectionCount: Int {
        switch self {
        case .server(let connection): connection.isConnected ? 1 : 0
        case .cluster(let cluster): cluster.connectionCount
        }
    }

    /// The number of channels that are subscribed, or are to be.
    package var channelCount: Int {
        switch self {
        case .server(let connection): connection.channelCount
        case .cluster(let cluster): cluster.channelCount
        }
    }

    /// Counters of the connections.
    package var tally: ConnectionTally {
        switch self {
        case .server(let connection): connection.tally
        case .cluster(let cluster): cluster.tally
        }
    }
}
