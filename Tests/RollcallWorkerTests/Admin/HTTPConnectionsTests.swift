import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle
import Testing

@testable import RollcallWorker

@Suite("HTTP connections")
struct HTTPConnectionsTests {
    /// Regression: one that was accepted and not served any more ended the process.
    @Test("connections that come while a server ends do not end the process", .timeLimit(.minutes(1)))
    func late() async throws {
        for _ in 0..<100 {
            let (ports, port) = AsyncStream.makeStream(of: Int.self)
            let server = Application(
                router: Router(), server: HTTPConnections.server,
                configuration: .init(address: .hostname("127.0.0.1", port: 0)),
                onServerRunning: { port.yield($0.localAddress?.port ?? 0) },
                logger: Logger(label: "server") { _ in SwiftLogNoOpLogHandler() })
            let running = Task { try await server.run() }
            let listening = await ports.first { _ in true } ?? 0
            let late = Task.detached {
                // Another server may have the port afterwards.
                while !Task.isCancelled, let client = try? RawClient(port: listening) {
                    withExtendedLifetime(client) {}
                }
            }
            try await Task.sleep(for: .milliseconds(2))
            running.cancel()
            _ = await running.result
            late.cancel()
            await late.value
        }
    }
}
