// A TCP proxy between two processes. The test decides what happens to the bytes in between.

internal import NIOCore
internal import NIOPosix
public import TestSupport

/// A proxy on loopback. It forwards everything unchanged until a test sets another ``Weather``.
public final class Proxy: Gate {
    public let port: Int
    private let loop: any EventLoop
    private let listener: any Channel
    private let board: NIOLoopBound<Switchboard>

    /// - Parameters:
    ///   - target: the port to forward connections to; without one, connections are reset until ``aim(at:)``.
    ///   - isRedis: whether connections go to Redis and are classified by client and purpose. Otherwise, every
    ///     connection counts as ``Traffic/all``.
    public init(to target: Int? = nil, isRedis: Bool = false) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let board = try await loop.submit {
            let board = Switchboard(on: loop, tellsTraffic: isRedis)
            board.target = target
            return NIOLoopBound(board, eventLoop: loop)
        }.get()
        listener = try await ServerBootstrap(group: loop)
            .serverChannelOption(.backlog, value: 1024)
            .childChannelOption(.autoRead, value: false)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { client in
                client.eventLoop.makeCompletedFuture { try board.value.accept(client) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        (self.loop, self.board, port) = (loop, board, listener.localAddress?.port ?? 0)
    }

    deinit {
        listener.close(promise: nil)
        loop.execute { [board] in board.value.cut(.reset, .all) }
    }

    /// Forwards new connections to this port; `nil` resets them.
    public func aim(at target: Int?) async throws {
        try await onLoop { $0.target = target }
    }

    /// Sets what happens to traffic from now on.
    ///
    /// - Parameter newcomersToo: whether this also applies to connections opened later.
    public func set(_ weather: Weather, for traffic: Traffic = .all, newcomersToo: Bool = true) async throws {
        try await onLoop { $0.set(weather, for: traffic, newcomersToo: newcomersToo) }
    }

    /// Cuts the open connections.
    public func cut(_ how: Cut, _ traffic: Traffic = .all) async throws {
        try await onLoop { $0.cut(how, traffic) }
    }

    /// Sets the ids of a cluster's nodes. A connection between nodes is classified by the id of the node that opened
    /// it.
    public func tell(nodes: [String]) async throws {
        try await onLoop { $0.nodes = nodes }
    }

    /// Sets a trap: the first connection on which a client sends these bytes, in one piece, is stalled, starting with
    /// those bytes. Other connections are unaffected.
    ///
    /// - Parameter sprung: called when that has happened.
    public func stall(onSightOf marker: String, sprung: @Sendable @escaping () -> Void) async throws {
        try await onLoop { $0.setTrap(marker, sprung: sprung) }
    }

    /// Records what clients send from now on, for ``texts()``.
    public func listen() async throws {
        try await onLoop { $0.listen() }
    }

    /// The WebSocket text messages that one client sent. Call ``listen()`` before the client connects.
    public func texts() async throws -> [String] {
        try await onLoop { board in
            board.heard.map { ClientFrames.texts(in: Array($0.readableBytesView)) } ?? []
        }
    }

    /// The number of open connections. One that is not classified yet counts only in ``Traffic/all``.
    public func connections(_ traffic: Traffic = .all) async throws -> Int {
        try await onLoop { $0.standing(traffic).count }
    }

    /// The number of bytes from clients that are held back.
    public func heldBytes() async throws -> Int {
        try await onLoop { $0.standing(.all).reduce(0) { $0 + $1.up.waitingBytes } }
    }

    /// The number of bytes from clients that were lost, on connections that are still open.
    public func lostBytes() async throws -> Int {
        try await onLoop { $0.standing(.all).reduce(0) { $0 + $1.up.lostBytes } }
    }

    private func onLoop<Value: Sendable>(
        _ body: @escaping @Sendable (Switchboard) throws -> Value
    ) async throws -> Value {
        let board = board
        return try await loop.submit { try body(board.value) }.get()
    }
}
