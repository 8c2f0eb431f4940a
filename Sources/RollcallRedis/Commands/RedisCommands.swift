// Commands for any kind of Redis deployment. The caller names the key that a command concerns. With a single server,
// this costs one switch.

public import Logging
public import NIOCore

/// Sends commands to the servers that have their keys. Bound to an event loop.
public enum RedisCommands {
    /// One server has all keys.
    case server(CommandConnection)
    /// Each of several primaries has a part of the keys.
    case cluster(ClusterCommands)

    /// - Parameters:
    ///   - route: provides the destinations.
    ///   - name: the connections' name in `CLIENT LIST`; without spaces.
    ///   - scripts: loaded on each connect. On a cluster, only these can be called.
    public init(
        along route: any RedisRoute, name: String, on eventLoop: any EventLoop, logger: Logger,
        settings: ConnectionSettings = ConnectionSettings(), scripts: [Script] = []
    ) {
        if let cluster = route.cluster {
            self = .cluster(
                ClusterCommands(
                    along: cluster, name: name, on: eventLoop, logger: logger, settings: settings, scripts: scripts))
        } else {
            self = .server(
                CommandConnection(
                    to: route, name: name, on: eventLoop, logger: logger, settings: settings, scripts: scripts))
        }
    }

    /// Whether keys are spread over several servers, each of which may be away alone.
    public var isSpread: Bool {
        switch self {
        case .server: false
        case .cluster: true
        }
    }

    /// Returns the index of the primary that has a key, valid until the map changes; `nil` with a single server.
    func place(of key: String) -> Int? {
        switch self {
        case .server: nil
        case .cluster(let cluster): cluster.place(of: key)
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
}

// MARK: Events and state

extension RedisCommands {
    /// Sets a closure to call after each connect. On a cluster, it is first called when every primary was tried once
    /// and at least one was reached, and then for each new connection to a primary.
    public func whenConnected(_ connected: @escaping () -> Void) {
        switch self {
        case .server(let connection): connection.onConnect = connected
        case .cluster(let cluster): cluster.onConnect = connected
        }
    }

    /// Sets a closure to call when a connection is lost; not called when the owner closes it.
    public func whenLost(_ lost: @escaping (RedisError) -> Void) {
        switch self {
        case .server(let connection): connection.onDisconnect = lost
        case .cluster(let cluster): cluster.onDisconnect = lost
        }
    }

    /// Sets a closure to call when one of several primaries cannot be reached or refuses the connection. It is called
    /// once until that primary is reached again.
    public func whenUnreachable(_ unreachable: @escaping (_ primary: RedisLocation.Address, RedisError) -> Void) {
        switch self {
        case .server: break
        case .cluster(let cluster): cluster.onUnreachable = unreachable
        }
    }

    /// Sets a closure to call when Redis denies a command because of a missing right, before the command's reply is
    /// delivered.
    public func whenDenied(_ denied: @escaping (RedisError) -> Void) {
        switch self {
        case .server(let connection): connection.onDenied = denied
        case .cluster(let cluster): cluster.onDenied = denied
        }
    }

    /// Whether commands for this key can be sent.
    public func isConnected(for key: String) -> Bool {
        switch self {
        case .server(let connection): connection.isConnected
        case .cluster(let cluster): cluster.isConnected(for: key)
        }
    }

    /// Why there is no connection at this moment; with several primaries, one of the reasons.
    public var lastError: RedisError? {
        switch self {
        case .server(let connection): connection.lastError
        case .cluster(let cluster): cluster.lastError
        }
    }

    /// The number of open connections.
    public var connectionCount: Int {
        switch self {
        case .server(let connection): connection.isConnected ? 1 : 0
        case .cluster(let cluster): cluster.connectionCount
        }
    }

    /// The number of commands that wait for their replies or, on a cluster, for a first connection.
    public var waitingCount: Int {
        switch self {
        case .server(let connection): connection.waitingCount
        case .cluster(let cluster): cluster.waitingCount
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

// MARK: Sending

extension RedisCommands {
    typealias Reply = (Result<RedisValue, RedisError>) -> Void

    /// Sends a command whose first argument is its key.
    func send(_ command: RedisCommand, reply: @escaping Reply) {
        switch self {
        case .server(let connection): connection.send(command, reply: reply)
        case .cluster(let cluster):
            guard case .string(let key) = command.arguments.first else {
                preconditionFailure("a command begins with its key")
            }
            cluster.send(command, slot: KeySlot.of(key), reply: reply)
        }
    }

    /// Sends a command to the server that has this key.
    func send(_ command: RedisCommand, to key: String, reply: @escaping Reply) {
        switch self {
        case .server(let connection): connection.send(command, reply: reply)
        case .cluster(let cluster): cluster.send(command, slot: KeySlot.of(key), reply: reply)
        }
    }

    /// Publishes a message.
    func publish(_ payload: String, on channel: String, reply: @escaping Reply) {
        switch self {
        case .server: send(RedisCommand("PUBLISH", .string(channel), .string(payload)), reply: reply)
        case .cluster: send(RedisCommand("SPUBLISH", .string(channel), .string(payload)), reply: reply)
        }
    }

    /// Runs a script whose keys are all in one slot.
    func call(_ script: Script, keys: [String], arguments: [RedisCommand.Argument], reply: @escaping Reply) {
        switch self {
        case .server(let connection): connection.call(script, keys: keys, arguments: arguments, reply: reply)
        case .cluster(let cluster): cluster.call(script, keys: keys, arguments: arguments, reply: reply)
        }
    }
}
