// A TCP proxy that a test puts between two processes: to them it is the other end, and what the network does to them
// is what the test says.

internal import NIOCore
internal import NIOPosix
public import TestSupport

/// A proxy on loopback, in clear weather until told otherwise.
public final class Proxy: Gate {
    /// Where it listens.
    public let port: Int
    private let loop: any EventLoop
    private let listener: any Channel
    private let board: NIOLoopBound<Switchboard>

    /// - Parameters:
    ///   - target: the port that connections go on to; without one, connections are reset until ``aim(at:)``.
    ///   - isRedis: whether connections go to Redis, and are told apart by whose they are and what for; all others count as
    ///     every kind at once.
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

    /// New connections go to this port, or are reset.
    public func aim(at target: Int?) async throws {
        try await onLoop { $0.target = target }
    }

    /// The weather from now on.
    ///
    /// - Parameter newcomersToo: whether it is that of connections yet to come as well.
    public func set(_ weather: Weather, for traffic: Traffic = .all, newcomersToo: Bool = true) async throws {
        try await onLoop { $0.set(weather, for: traffic, newcomersToo: newcomersToo) }
    }

    /// Cuts the connections that stand.
    public func cut(_ how: Cut, _ traffic: Traffic = .all) async throws {
        try await onLoop { $0.cut(how, traffic) }
    }

    /// Which node of a cluster has which id: theirs are the connections that begin with it.
    public func tell(nodes: [String]) async throws {
        try await onLoop { $0.nodes = nodes }
    }

    /// Sets a trap: the first connection on which a client sends these bytes (in one piece) is stalled, beginning with
    /// them. Other connections are not touched.
    ///
    /// - Parameter sprung: called when that has happened.
    public func stall(onSightOf marker: String, sprung: @Sendable @escaping () -> Void) async throws {
        try await onLoop { $0.setTrap(marker, sprung: sprung) }
    }

    /// Keeps what clients send from now on, for ``texts()``.
    public func listen() async throws {
        try await onLoop { $0.listen() }
    }

    /// What one client has said over its WebSocket since ``listen()`` was called, before it connected.
    public func texts() async throws -> [String] {
        try await onLoop { board in
            board.heard.map { ClientFrames.texts(in: Array($0.readableBytesView)) } ?? []
        }
    }

    /// How many connections stand. One that has not said its name yet counts among all, and among no kind.
    public func connections(_ traffic: Traffic = .all) async throws -> Int {
        try await onLoop { $0.standing(traffic).count }
    }

    /// How many bytes of clients are held back.
    public func heldBytes() async throws -> Int {
        try await onLoop { $0.standing(.all).reduce(0) { $0 + $1.up.waitingBytes } }
    }

    /// How many bytes of clients were lost, on connections that stand.
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
