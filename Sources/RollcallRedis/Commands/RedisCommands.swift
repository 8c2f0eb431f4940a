// Commands to a Redis of any kind. Whoever sends them says which key they are about, and no more; with one server that
// costs a look at which of the two it is.

public import Logging
public import NIOCore

/// The way of commands to where their keys are, bound to an event loop.
public enum RedisCommands {
    /// One server has them all.
    case server(CommandConnection)
    /// Each of several primaries has a part.
    case cluster(ClusterCommands)

    /// - Parameters:
    ///   - route: asked where to go.
    ///   - name: what `CLIENT LIST` shows for the connections; without spaces.
    ///   - scripts: loaded at each connect. A cluster takes no others.
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

    /// Whether several servers have a part of the keys each, and may be away one by one.
    public var isSpread: Bool {
        switch self {
        case .server: false
        case .cluster: true
        }
    }

    /// Which of several primaries has a key, as long as the map stays; `nil` where one server has all.
    func place(of key: String) -> Int? {
        switch self {
        case .server: nil
        case .cluster(let cluster): cluster.place(of: key)
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
}

// MARK: What it tells

extension RedisCommands {
    /// Calls `connected` whenever a connection stands. Of a cluster's, first when every primary has been tried once and
    /// some were reached, then for each that a primary has anew.
    public func whenConnected(_ connected: @escaping () -> Void) {
        switch self {
        case .server(let connection): connection.onConnect = connected
        case .cluster(let cluster): cluster.onConnect = connected
        }
    }

    /// Calls `lost` whenever a connection that stood is lost; not when the owner closes it.
    public func whenLost(_ lost: @escaping (RedisError) -> Void) {
        switch self {
        case .server(let connection): connection.onDisconnect = lost
        case .cluster(let cluster): cluster.onDisconnect = lost
        }
    }

    /// Calls `unreachable` when one of several primaries does not let us in, once until it does.
    public func whenUnreachable(_ unreachable: @escaping (_ primary: RedisLocation.Address, RedisError) -> Void) {
        switch self {
        case .server: break
        case .cluster(let cluster): cluster.onUnreachable = unreachable
        }
    }

    /// Calls `denied` when Redis refuses a command for want of a right, before its sender hears of it.
    public func whenDenied(_ denied: @escaping (RedisError) -> Void) {
        switch self {
        case .server(let connection): connection.onDenied = denied
        case .cluster(let cluster): cluster.onDenied = denied
        }
    }

    /// Whether commands about this key can be sent.
    public func isConnected(for key: String) -> Bool {
        switch self {
        case .server(let connection): connection.isConnected
        case .cluster(let cluster): cluster.isConnected(for: key)
        }
    }

    /// Why there is no connection at this moment; of several, one reason.
    public var lastError: RedisError? {
        switch self {
        case .server(let connection): connection.lastError
        case .cluster(let cluster): cluster.lastError
        }
    }

    /// How many connections stand.
    public var connectionCount: Int {
        switch self {
        case .server(let connection): connection.isConnected ? 1 : 0
        case .cluster(let cluster): cluster.connectionCount
        }
    }

    /// How many commands wait for their replies.
    public var waitingCount: Int {
        switch self {
        case .server(let connection): connection.waitingCount
        case .cluster(let cluster): cluster.waitingCount
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

// MARK: Sending

extension RedisCommands {
    typealias Reply = (Result<RedisValue, RedisError>) -> Void

    /// Sends a command whose first argument is the key that it is about.
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

    /// Sends a command to where this key is.
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

    /// Runs a script, all of whose keys lie together.
    func call(_ script: Script, keys: [String], arguments: [RedisCommand.Argument], reply: @escaping Reply) {
        switch self {
        case .server(let connection): connection.call(script, keys: keys, arguments: arguments, reply: reply)
        case .cluster(let cluster): cluster.call(script, keys: keys, arguments: arguments, reply: reply)
        }
    }
}
