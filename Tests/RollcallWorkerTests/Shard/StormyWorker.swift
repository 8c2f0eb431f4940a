// A worker in the test's process, on one loop, with a real Redis and real sockets. The test can cause any event at its
// shard, and read what waits at its connections at the worst moment.

import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import RollcallCore
import RollcallProtocol
import TestSupport

@testable import RollcallServer
@testable import RollcallWorker

/// Passes everything on to the shard of a worker, and measures.
final class GaugedShard: EdgeShard {
    let driver: ShardDriver
    private(set) var connections: [EdgeConnection] = []
    /// The most bytes that waited for each connection, in the order in which they connected.
    private(set) var peaks: [Int] = []

    init(_ driver: ShardDriver) {
        self.driver = driver
    }

    /// Handles an event, and measures after each tick that follows from it, before anything is flushed.
    func after(_ event: ShardEvent) {
        driver.shard.after(event)
        measureLater()
    }

    private func measureLater() {
        driver.eventLoop.assumeIsolated().execute { [self] in
            for (index, connection) in connections.enumerated() {
                peaks[index] = max(peaks[index], connection.outboundBytes)
            }
            if driver.shard.hasMoreToTell { measureLater() }
        }
    }

    func connected(_ connection: EdgeConnection) {
        connections.append(connection)
        peaks.append(0)
        driver.connected(connection)
    }

    func prove(
        _ token: ByteString, device: DeviceID?, of connection: EdgeConnection
    ) throws(ProofRefusal) -> Proof { try driver.prove(token, device: device, of: connection) }

    func fellBehind(_ connection: EdgeConnection) { driver.fellBehind(connection) }
    func disconnected(_ connection: EdgeConnection) { driver.disconnected(connection) }

    func received(_ text: ByteBuffer, on connection: EdgeConnection) {
        driver.received(text, on: connection)
        measureLater()
    }

    func drained(_ connection: EdgeConnection) {
        driver.drained(connection)
        measureLater()
    }
}

/// The worker, for use during ``with(_:body:)``.
struct StormyWorker: Sendable {
    let redis: RedisServer
    let port: Int
    private let loop: any EventLoop
    private let gauge: NIOLoopBound<GaugedShard>

    static func with(_ limits: WorkerConfiguration.Limits, body: (StormyWorker) async throws -> Void) async throws {
        var configuration = WorkerConfiguration()
        configuration.limits = limits
        try await with(configuration, body: body)
    }

    /// - Parameter auth: how tokens are verified; by default, they are not.
    static func with(
        _ settings: WorkerConfiguration, auth: WorkerConfiguration.Auth? = nil,
        body: (StormyWorker) async throws -> Void
    ) async throws {
        let redis = try await RedisServer()
        var configuration = settings
        configuration.redis.url = redis.url
        // Without coalescing, every change is published.
        configuration.presence.coalesce = .zero
        configuration.auth.mode = .insecure
        configuration.auth = auth ?? configuration.auth
        let logger = Logger(label: "storm") { _ in SwiftLogNoOpLogHandler() }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let authenticator = try Authenticator(configuration.auth, logger: logger)
        let keys = Task { await authenticator.run() }
        defer { keys.cancel() }
        let node = try await Node(
            NodeSettings(configuration), authenticator: authenticator, group: group, logger: logger)
        let loop = group.next()
        let gauge = try await loop.submit { NIOLoopBound(GaugedShard(node.shard(on: loop)), eventLoop: loop) }.get()
        var settings = EdgeSettings(configuration)
        settings.port = 0
        let server = EdgeServer(settings, group: group, logger: logger) { _ in gauge.value }
        let result: Result<Void, any Error>
        do {
            let port = try await server.start().port ?? 0
            try await node.start(edge: "ws://127.0.0.1:\(port)", host: "test") { 0 }
            result = .success(try await body(StormyWorker(redis: redis, port: port, loop: loop, gauge: gauge)))
        } catch {
            result = .failure(error)
        }
        await server.stop()
        try await node.stop()
        try await group.shutdownGracefully()
        try result.get()
    }

    /// Reads the shard's state on its loop, after a pause.
    func ask<Answer: Sendable>(
        after pause: TimeAmount = .zero, _ question: @escaping @Sendable (GaugedShard) -> Answer
    ) async throws -> Answer {
        try await loop.scheduleTask(in: pause) { question(gauge.value) }.futureResult.get()
    }

    /// A client whose hello was accepted.
    func client(_ user: String, receiveBuffer: Int32? = nil) async throws -> RawClient {
        let client = try RawClient(port: port, receiveBuffer: receiveBuffer)
        try await client.send(TestEdge.request())
        _ = try await client.readHead()
        try await client.send(.text(#"{"type":"hello","token":"\#(user)","device":"d"}"#))
        _ = try await client.readFrame()
        return client
    }
}
