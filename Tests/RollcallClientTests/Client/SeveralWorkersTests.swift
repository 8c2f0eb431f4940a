// A client that knows several workers, or is sent from one to another, over real sockets.

import NIOWebSocket
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallClient

@Suite struct SeveralWorkersTests {
    @Test("a client of several workers connects to another when its own is gone, and finds the only one left")
    func workerGone() async throws {
        let workers = [try await ScriptedWorker(), try await ScriptedWorker(), try await ScriptedWorker()]
        let client = RollcallClient.phone(workers.map(\.url))
        client.connect()
        for left in stride(from: workers.count, to: 1, by: -1) {
            try await client.isConnected()
            let own = try #require(workers.first { $0.connections.contains(where: \.isOpen) })
            let before = workers.map(\.connections.count).reduce(0, +)
            try await own.kill()
            try await eventually("it is at one of the other \(left - 1)") {
                workers.map(\.connections.count).reduce(0, +) > before && client.connection.latest.isConnected
            }
        }
    }

    @Test("one wrong URL among several is reported instead of ignored")
    func wrongURL() async throws {
        let worker = try await ScriptedWorker()
        let client = RollcallClient.phone([worker.url, "http://example.com"])
        client.connect()
        #expect(try await client.hasFailed().code == .invalidURL)
    }

    @Test("a client that is sent to an address that does not answer returns to its own addresses at once")
    func sentIntoTheVoid() async throws {
        let worker = try await ScriptedWorker()
        let client = RollcallClient.phone(worker.url) { $0.longestPause = .seconds(3600) }
        client.connect()
        try await client.isConnected()
        let nowhere = "ws://127.0.0.1:\(try freePort())/v1/connect"
        let connection = try await worker.connection()
        connection.send(.goodbye(.init(reason: .draining, reconnect: true, after: 0, to: ByteString(nowhere))))
        connection.close(.draining)
        try await eventually("it is home again") { worker.connections.count == 2 }
        try await client.isConnected()
    }

    @Test("an error with an unknown code still answers its message")
    func laterError() async throws {
        let worker = try await ScriptedWorker { request, connection in
            guard case .join = request.message, case .integer(let id)? = request.id else {
                return connection.behave(request)
            }
            connection.send(
                text: #"{"type":"error","id":\#(id),"code":"full_moon","message":"not tonight","retry":false}"#)
        }
        let client = RollcallClient.phone(worker.url)
        let seen = Collected(client.typing(in: "c42"))
        client.connect()
        try await seen.latest("it is refused") { $0.refusal == RollcallError(.badRequest, "not tonight") }
    }
}
