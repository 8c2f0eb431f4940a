public import Logging
public import NIOCore

/// A connection for messages that keeps its subscriptions over every loss.
public final class SubscriberConnection {
    public let eventLoop: any EventLoop
    public var onConnect: (() -> Void)?
    public var onDisconnect: ((RedisError) -> Void)?
    public var onSubscribed: ((_ channel: String) -> Void)?
    public var onMessage: ((_ channel: String, _ payload: ByteBuffer) -> Void)?
    public private(set) var isConnected = false

    public init(
        to location: RedisLocation, name: String, on eventLoop: any EventLoop, logger: Logger,
        settings: ConnectionSettings = ConnectionSettings()
    ) {
        self.eventLoop = eventLoop
    }

    public func start() {}

    public func close() -> EventLoopFuture<Void> { eventLoop.makeSucceededVoidFuture() }

    public func subscribe(_ channel: String) {}

    public func unsubscribe(_ channel: String) {}

    public func isConfirmed(_ channel: String) -> Bool { false }
}
