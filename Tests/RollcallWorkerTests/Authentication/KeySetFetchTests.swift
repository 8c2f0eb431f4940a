// What an issuer's server may do to a worker that asks it for keys: over real HTTP.

import Foundation
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle
import TestSupport
import Testing

@testable import RollcallWorker

@Suite("Keys from a URL", .timeLimit(.minutes(1)))
struct KeySetFetchTests {
    /// Asks a server that answers by the path.
    private func fetch(_ path: String) async throws -> [UInt8] {
        let router = Router()
        router.get("keys") { _, _ in #"{"keys":[]}"# }
        router.get("elsewhere") { _, _ in Response.redirect(to: "/keys") }
        router.get("endless") { _, _ in
            Response(
                status: .ok,
                body: ResponseBody { writer in
                    let piece = ByteBuffer(repeating: 0x20, count: 65_536)
                    while !Task.isCancelled { try await writer.write(piece) }
                })
        }
        router.get("slow") { _, _ in
            Response(
                status: .ok,
                body: ResponseBody { writer in
                    while !Task.isCancelled {
                        try await writer.write(ByteBuffer(string: " "))
                        try await Task.sleep(for: .milliseconds(200))
                    }
                })
        }
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let app = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { port.yield($0.localAddress?.port ?? 0) },
            logger: Logger(label: "issuer") { _ in SwiftLogNoOpLogHandler() })
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await app.run() }
            defer { tasks.cancelAll() }
            let listening = await ports.first { _ in true } ?? 0
            return try await KeySetFetch(url: "http://127.0.0.1:\(listening)/\(path)").contents()
        }
    }

    @Test("a key set is fetched")
    func fetched() async throws {
        #expect(try await fetch("keys") == Array(#"{"keys":[]}"#.utf8))
    }

    @Test("no redirection is followed, and no other answer taken", arguments: ["elsewhere", "nothing"])
    func others(path: String) async {
        await #expect(throws: (any Error).self) { try await fetch(path) }
    }

    @Test("an endless answer is cut off, and so is one that takes too long", arguments: ["endless", "slow"])
    func boundless(path: String) async {
        let began = ContinuousClock.now
        await #expect(throws: (any Error).self) { try await fetch(path) }
        #expect(ContinuousClock.now - began < .seconds(10))
    }
}
