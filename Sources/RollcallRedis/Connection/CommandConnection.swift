public import Logging
public import NIOCore

/// A pipelined connection for commands that comes back by itself.
public final class CommandConnection {
    public let eventLoop: any EventLoop
    public var onConnect: (() -> Void)?
    public var onDisconnect: ((RedisError) -> Void)?
    public private(set) var isConnected = false

    public init(
        to location: RedisLocation, name: String, on eventLoop: any EventLoop, logger: Logger,
        settings: ConnectionSettings = ConnectionSettings(), scripts: [Script] = []
    ) {
        self.eventLoop = eventLoop
    }

    public func start() {}

    public func close() -> EventLoopFuture<Void> { eventLoop.makeSucceededVoidFuture() }

    public func send(_ command: RedisCommand, reply: @escaping (Result<RedisValue, RedisError>) -> Void) {
        reply(.failure(RedisError(.notConnected, command: command.name, "Redis is not connected")))
    }

    public func call(
        _ script: Script, keys: [String], arguments: [RedisCommand.Argument],
        reply: @escaping (Result<RedisValue, RedisError>) -> Void
    ) {
        reply(.failure(RedisError(.notConnected, command: script.name, "Redis is not connected")))
    }
}
