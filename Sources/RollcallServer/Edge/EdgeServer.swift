// The edge's listener: one socket that assigns each new connection to an event loop of the group.

package import Logging
import NIOConcurrencyHelpers
package import NIOCore
import NIOPosix
import Synchronization

/// Accepts WebSockets for the shards of a worker.
package final class EdgeServer: Sendable {
    private let settings: EdgeSettings
    private let group: any EventLoopGroup
    private let logger: Logger
    private let makeShard: @Sendable (any EventLoop) -> any EdgeShard
    private let sessions: SessionCount
    private let addresses: AddressLimits?
    private let isServing: @Sendable () -> Bool
    private let running = NIOLockedValueBox<Running?>(nil)

    private struct Running {
        let listeners: [any Channel]
        let loops: EdgeLoops
    }

    /// - Parameters:
    ///   - group: The event loops that share the connections.
    ///   - isServing: What a health check is told.
    ///   - shard: Called once per event loop, on that loop, when the server starts.
    init(
        _ settings: EdgeSettings, group: any EventLoopGroup, logger: Logger,
        isServing: @escaping @Sendable () -> Bool = { true },
        shard: @escaping @Sendable (any EventLoop) -> any EdgeShard
    ) {
        self.settings = settings
        self.group = group
        self.logger = logger
        self.isServing = isServing
        makeShard = shard
        sessions = SessionCount(limit: settings.sessions)
        addresses = AddressLimits(connections: settings.connectionsPerAddress)
    }

    /// Serves the shards of a node.
    package convenience init(
        _ settings: EdgeSettings, node: Node, group: any EventLoopGroup, logger: Logger
    ) {
        self.init(settings, group: group, logger: logger, isServing: { node.isServing }) { node.shard(on: $0) }
    }

    /// The number of sessions.
    package var connections: Int { sessions.count }

    /// Starts accepting.
    ///
    /// - Returns: The first address on which it listens, with the port that was picked if the configuration names port 0.
    /// - Throws: ``ListenError`` if it cannot listen there.
    package func start() async throws -> SocketAddress {
        let loops = try await EdgeLoops(group) { [settings, sessions, addresses, isServing, makeShard, logger] loop in
            EdgeLoop(
                on: loop, settings: settings, sessions: sessions, addresses: addresses, isServing: isServing,
                shard: makeShard(loop), logger: logger)
        }
        var listeners: [any Channel] = []
        do {
            let address = try await Listening.onEach(of: settings.host, port: settings.port, on: group.next()) {
                let listener = try await bootstrap(loops).bind(to: $0).get()
                listeners.append(listener)
                guard let address = listener.localAddress else { throw ChannelError.unknownLocalAddress }
                return address
            }
            running.withLockedValue { [listeners] in $0 = Running(listeners: listeners, loops: loops) }
            return address
        } catch {
            for listener in listeners { try? await listener.close() }
            await loops.stop()
            throw ListenError(.edge, host: settings.host, port: settings.port, cause: error)
        }
    }

    /// Stops accepting; open connections are not affected.
    package func stopAccepting() async {
        for listener in running.withLockedValue({ $0 })?.listeners ?? [] { try? await listener.close() }
    }

    /// Stops accepting and ends every connection without a close frame. Close connections first for an orderly end.
    package func stop() async {
        await stopAccepting()
        await running.withLockedValue { $0 }?.loops.stop()
    }

    private static func gate(_ listener: any Channel, _ loop: EdgeLoop) throws {
        try listener.pipeline.syncOperations.addHandler(AcceptGate { loop.ranOutOfFiles($0) })
    }

    /// How many connections may wait in the kernel to be accepted. If the queue is full, clients retry the handshake after
    /// a second.
    private static let backlog: Int32 = 4096

    private func bootstrap(_ loops: EdgeLoops) -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: Self.backlog)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try Self.gate(channel, loops[channel.eventLoop]) }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.tcpOption(.unsentLimit), value: EdgeSettings.unsentBytes)
            .childChannelOption(.writeBufferWaterMark, value: settings.waterMark)
            .childChannelOption(.recvAllocator, value: FreshBuffers())
            // Each channel would keep as many receive buffers as reads in a row.
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try loops[channel.eventLoop].accept(channel) }
            }
    }
}

extension NIOBSDSocket.Option {
    /// `TCP_NOTSENT_LOWAT`: how many unsent bytes the kernel accepts, whatever the size of its buffers.
    #if canImport(Darwin)
        fileprivate static let unsentLimit = NIOBSDSocket.Option(rawValue: 0x201)
    #else
        fileprivate static let unsentLimit = NIOBSDSocket.Option(rawValue: 25)
    #endif
}

/// The edge's state on each event loop of a group.
private struct EdgeLoops: Sendable {
    private let loops: [ObjectIdentifier: NIOLoopBound<EdgeLoop>]

    init(_ group: any EventLoopGroup, make: @escaping @Sendable (any EventLoop) -> EdgeLoop) async throws {
        var loops: [ObjectIdentifier: NIOLoopBound<EdgeLoop>] = [:]
        for loop in group.makeIterator() {
            loops[ObjectIdentifier(loop)] = try await loop.submit { NIOLoopBound(make(loop), eventLoop: loop) }.get()
        }
        self.loops = loops
    }

    /// The state of one event loop, for use on that loop.
    subscript(_ loop: any EventLoop) -> EdgeLoop {
        guard let part = loops[ObjectIdentifier(loop)] else { preconditionFailure("event loop of another group") }
        return part.value
    }

    /// Ends all connections, and returns when the shards have been notified.
    func stop() async {
        for part in loops.values {
            try? await part.eventLoop.submit { part.value.stop() }.get()
            // Closed channels notify their handlers in the next tick.
            try? await part.eventLoop.submit {}.get()
        }
    }
}

// MARK: Sessions on all loops

// Counts sessions over all event loops, for `limits.sessions`. A connection takes a seat when its token is accepted,
// and releases it when it starts to close, so that unauthenticated clients take no seats.

/// The seats for sessions, at most `limits.sessions`.
final class SessionCount: Sendable {
    private let limit: Int
    private let taken = Atomic(0)

    init(limit: Int) {
        self.limit = limit
    }

    var count: Int { taken.load(ordering: .relaxed) }

    /// Whether a seat is free.
    var hasRoom: Bool { count < limit }

    /// - Returns: `false` if all seats are taken. Release each seat exactly once.
    func take() -> Bool {
        guard taken.wrappingAdd(1, ordering: .relaxed).newValue > limit else { return true }
        release()
        return false
    }

    func release() {
        taken.wrappingSubtract(1, ordering: .relaxed)
    }
}
