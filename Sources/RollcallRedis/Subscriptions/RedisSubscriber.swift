// Messages of a Redis of any kind: whoever wants a channel does not know where it lies.

public import Logging
public import NIOCore
public import RollcallModel

/// The channels of a Redis, wherever they are, bound to an event loop.
public enum RedisSubscriber {
    /// One server has them all.
    case server(SubscriberConnection)
    /// Each of several primaries has a part.
    case cluster(ClusterSubscriber)

    /// - Parameters:
    ///   - route: asked where to go.
    ///   - name: what `CLIENT LIST` shows for the connections; without spaces.
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

    /// Connects, and from then on reconnects. Called once.
    public func start() {
        switch self {
        case .server(let connection): connection.start()
        case .cluster(let cluster): cluster.start()
        }
    }

    /// Ends the connections for good.
    public func close() -> EventLoopFuture<Void> {
        switch self {
        case .server(let connection): connection.close()
        case .cluster(let cluster): cluster.close()
        }
    }

    /// As ``SubscriberConnection/subscribe(_:as:)``.
    @discardableResult
    public func subscribe(_ channel: String, as topic: Topic) -> Bool {
        switch self {
        case .server(let connection): connection.subscribe(channel, as: topic)
        case .cluster(let cluster): cluster.subscribe(channel, as: topic)
        }
    }

    /// As ``SubscriberConnection/unsubscribe(_:)``.
    public func unsubscribe(_ channel: String) {
        switch self {
        case .server(let connection): connection.unsubscribe(channel)
        case .cluster(let cluster): cluster.unsubscribe(channel)
        }
    }

    /// As ``SubscriberConnection/isConfirmed(_:)``.
    public func isConfirmed(_ channel: String) -> Bool {
        switch self {
        case .server(let connection): connection.isConfirmed(channel)
        case .cluster(let cluster): cluster.isConfirmed(channel)
        }
    }
}

// MARK: What it tells

extension RedisSubscriber {
    /// What is not heard any more, until it is confirmed again.
    public enum Lost {
        case everything
        case topics([Topic])
    }

    /// Calls `lost` whenever wanted channels that may have been confirmed are heard no more: with a server all of them,
    /// in a cluster those of one primary, or of a slot that moves.
    public func whenLost(_ lost: @escaping (Lost) -> Void) {
        switch self {
        case .server(let connection): connection.onDisconnect = { _ in lost(.everything) }
        case .cluster(let cluster): cluster.onLost = { lost(.topics($0)) }
        }
    }

    /// Calls `denied` when Redis refuses a subscription for want of a right.
    public func whenDenied(_ denied: @escaping (RedisError) -> Void) {
        switch self {
        case .server(let connection): connection.onDenied = denied
        case .cluster(let cluster): cluster.onDenied = denied
        }
    }

    /// Calls `subscribed` as ``SubscriberConnection/onSubscribed`` is called.
    public func whenSubscribed(_ subscribed: @escaping ([Topic]) -> Void) {
        switch self {
        case .server(let connection): connection.onSubscribed = subscribed
        case .cluster(let cluster): cluster.onSubscribed = subscribed
        }
    }

    /// Calls `heard` as ``SubscriberConnection/onMessage`` is called.
    public func whenHeard(_ heard: @escaping (Topic, ByteBuffer) -> Void) {
        switch self {
        case .server(let connection): connection.onMessage = heard
        case .cluster(let cluster): cluster.onMessage = heard
        }
    }

    /// How many connections stand.
    public var connectionCount: Int {
        switch self {
        case .server(let connection): connection.isConnected ? 1 : 0
        case .cluster(let cluster): cluster.connectionCount
        }
    }

    /// How many channels Redis is asked for, or is to be.
    package var channelCount: Int {
        switch self {
        case .server(let connection): connection.channelCount
        case .cluster(let cluster): cluster.channelCount
        }
    }

    /// What it has done so far.
    package var tally: ConnectionTally {
        switch self {
        case .server(let connection): connection.tally
        case .cluster(let cluster): cluster.tally
        }
    }
}
