// The fake worker of the client's own tests: it does what the test says, over connections that may die silently, and the
// test moves the clock. Nothing takes real time, so a busy machine has no effect.

import NIOConcurrencyHelpers
import RollcallProtocol
import TestSupport

@testable import RollcallClient
@testable import RollcallTesting

/// A scripted worker and the clock of its clients.
final class TestWorld: Sendable {
    /// What the worker does with each request.
    typealias Script = @Sendable (ClientRequest, Connection) -> Void

    private let worker: FakeWorker
    private let log = NIOLockedValueBox<[Connection]>([])

    /// - Parameter isAppAwaited: whether time waits for the application's callbacks.
    init(isAppAwaited: Bool = true, script: @escaping Script = { $1.behave($0) }) {
        worker = FakeWorker(at: Timestamp(milliseconds: 1_753_600_000_000), awaitsApp: isAppAwaited)
        worker.world.isNetwork = true
        worker.world.script = { [log] request, wire in
            let connection = log.withLockedValue { connections in
                if let known = connections.last(where: { $0.wire === wire }) { return known }
                connections.append(Connection(wire))
                return connections[connections.count - 1]
            }
            connection.noted(request)
            script(request, connection)
        }
    }

    /// All connections so far, including closed ones.
    var connections: [Connection] { log.withLockedValue { $0 } }
    /// The newest connection.
    var connection: Connection { connections.last! }
    var attempts: Int { worker.world.attempts }
    /// The number of timers that are set.
    var timers: Int { worker.time.timers }
    /// The worker's clock.
    var serverTime: Timestamp { worker.world.now }

    func listen(_ listening: World.Listening) { worker.world.listening = listening }

    /// Creates a client of `alice`'s phone.
    func client(_ adjust: (inout ClientOptions) -> Void = { _ in }) -> RollcallClient {
        client(token: { "alice" }, adjust)
    }

    func client(
        token: @escaping @Sendable () async throws -> String,
        _ adjust: (inout ClientOptions) -> Void = { _ in }
    ) -> RollcallClient {
        client(token: { _ in try await token() }, adjust)
    }

    func client(
        token: @escaping @Sendable (TokenRequest) async throws -> String,
        _ adjust: (inout ClientOptions) -> Void = { _ in }
    ) -> RollcallClient {
        var options = ClientOptions()
        adjust(&options)
        return worker.client(user: "alice", device: "phone", options: options, token: token)
    }

    /// Creates a client and connects it.
    func connected(_ adjust: (inout ClientOptions) -> Void = { _ in }) async throws -> RollcallClient {
        let client = client(adjust)
        client.connect()
        await settle()
        try await client.isConnected()
        return client
    }

    /// Runs everything that needs no time.
    func settle() async { await worker.settles() }

    /// Lets the machine sleep: the clock advances, and timers do not.
    func sleep(for duration: Duration) { worker.time.sleep(for: duration) }

    /// Sets the worker's clock forward or back.
    func setClock(by duration: Duration) { worker.world.epoch = worker.world.epoch.advanced(by: duration) }

    func advance(by duration: Duration) async { await worker.passes(duration) }

    /// One client's connection.
    final class Connection: WorkerSide, Sendable {
        fileprivate let wire: FakeWire
        private let requests = NIOLockedValueBox<[ClientRequest]>([])

        fileprivate init(_ wire: FakeWire) {
            self.wire = wire
            keepPinging()
        }

        var received: [ClientRequest] { requests.withLockedValue { $0 } }
        var time: Timestamp { wire.world?.now ?? Timestamp(milliseconds: 0) }

        fileprivate func noted(_ request: ClientRequest) { requests.withLockedValue { $0.append(request) } }

        func send(_ message: ServerMessage) { wire.tell(message) }

        /// Nothing is delivered from now on, and neither end notices.
        func die() {
            wire.soon { [wire] in
                wire.world?.sessions.removeAll { $0 === wire }
                wire.world = nil
            }
        }

        func close(_ code: CloseCode) { end(.closed(code)) }

        func drop() { end(.lost(nil)) }

        private func end(_ ending: Ending) {
            wire.soon { [wire] in wire.world?.ended(wire, ending) }
        }

        private func keepPinging() {
            guard let time = wire.world?.time else { return }
            _ = time.at(time.now + .seconds(10)) { [weak self] in
                guard let self, wire.world != nil else { return }
                wire.owner?.wireHeard(wire)
                keepPinging()
            }
        }
    }
}
