// A shard that records its calls, and responds as the test configures it.

import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import RollcallCore
import RollcallProtocol

@testable import RollcallServer

/// A loop that a shard serves, for as long as it exists.
private struct ServedLoop {
    weak var loop: EdgeLoop?
}

/// What happened at the shards of a server, in order.
final class Journal: Sendable {
    private let lines = NIOLockedValueBox<[String]>([])
    private let closures = NIOLockedValueBox(0)
    private let edges = NIOLockedValueBox<[NIOLoopBound<ServedLoop>]>([])

    func note(_ line: String) { lines.withLockedValue { $0.append(line) } }
    var all: [String] { lines.withLockedValue { $0 } }

    func serves(_ loop: EdgeLoop) {
        edges.withLockedValue { $0.append(NIOLoopBound(ServedLoop(loop: loop), eventLoop: loop.eventLoop)) }
    }

    /// The number of WebSockets, including those that are closing.
    func webSockets() async throws -> Int {
        try await onLoops { $0.rota.members.reduce(0) { sum, _ in sum + 1 } }.reduce(0, +)
    }

    /// How long the loop that is ahead has been awake.
    func awake() async throws -> Duration {
        try await onLoops { $0.clock.awake }.max() ?? .zero
    }

    private func onLoops<Value: Sendable>(_ read: @escaping @Sendable (EdgeLoop) -> Value) async throws -> [Value] {
        var values: [Value] = []
        for edge in edges.withLockedValue({ $0 }) {
            if let value = try await edge.eventLoop.submit({ edge.value.loop.map(read) }).get() { values.append(value) }
        }
        return values
    }

    /// The number of connections that a loop has closed as too slow.
    var slowClosures: Int {
        get { closures.withLockedValue { $0 } }
        set { closures.withLockedValue { $0 = newValue } }
    }

    func count(_ line: String) -> Int { all.count { $0 == line } }
    func contains(_ line: String) -> Bool { count(line) > 0 }
}

/// Admits every connection as a session, unless the test changes it.
final class RecordingShard: EdgeShard {
    /// What a test does with each message.
    typealias Answer = @Sendable (_ text: String, _ connection: EdgeConnection) -> Void

    private let journal: Journal
    private let answer: Answer
    private let admits: Bool
    private(set) var connections: [EdgeConnection] = []

    init(_ journal: Journal, admits: Bool = true, answer: @escaping Answer) {
        self.journal = journal
        self.admits = admits
        self.answer = answer
    }

    func serves(_ loop: EdgeLoop) { journal.serves(loop) }

    func connected(_ connection: EdgeConnection) {
        connections.append(connection)
        journal.note("connected")
        if admits { _ = connection.takeSeat() }
    }

    /// There are no sessions here that could ask.
    func prove(_: ByteString, device _: DeviceID?, of _: EdgeConnection) throws(ProofRefusal) -> Proof {
        throw ProofRefusal(.badToken(because: ""), endsWelcomed: true)
    }

    func received(_ text: ByteBuffer, on connection: EdgeConnection) {
        let text = String(buffer: text)
        journal.note(text.utf8.count > 100 ? "\(text.utf8.count) bytes" : text)
        answer(text, connection)
    }

    func fellBehind(_ connection: EdgeConnection) {
        journal.note("fell behind")
    }

    func drained(_ connection: EdgeConnection) {
        journal.note("drained")
    }

    func disconnected(_ connection: EdgeConnection) {
        connections.removeAll { $0 === connection }
        journal.slowClosures = connection.loop.limitCounts.hits[.outboundBytes]
        switch connection.ending {
        case .lost: journal.note("lost")
        case .peer(let code): journal.note("peer \(code.map { "\($0.rawValue)" } ?? "-")")
        case .here(let code): journal.note("here \(code.rawValue)")
        case nil: journal.note("no ending")
        }
    }
}

// More data than a peer that does not read can accept.
extension RecordingShard {
    /// 64 KiB, numbered.
    static func large(_ number: Int) -> [UInt8] {
        Array("\(number) ".utf8) + Array(repeating: 0x2E, count: 65_536)
    }

    /// Sends more than the kernel buffers for a client that does not read; for a client that requests a snapshot,
    /// without counting it.
    static let flood: Answer = { text, connection in
        for number in 0..<40 {
            connection.send(ServerFrame(text: large(number)), counting: text != "snapshot")
        }
    }
}

/// A server for one test, with its own port and threads.
struct TestEdge {
    let server: EdgeServer
    let journal: Journal
    let port: Int

    /// Runs `body` with a server that is stopped afterwards.
    ///
    /// - Parameters:
    ///   - admits: whether a WebSocket is a session from the start.
    ///   - change: changes the defaults of ``EdgeSettings``.
    ///   - answer: what the shards do with a message; by default, they send it back.
    static func with(
        threads: Int = 1, admits: Bool = true, isServing: Bool = true,
        _ change: (inout EdgeSettings) -> Void = { _ in },
        answer: @escaping RecordingShard.Answer = { text, connection in
            connection.send(ServerFrame(text: Array("echo \(text)".utf8)))
        },
        body: (TestEdge) async throws -> Void
    ) async throws {
        var settings = EdgeSettings()
        change(&settings)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: threads)
        let journal = Journal()
        let server = EdgeServer(settings, group: group, logger: Logger(label: "edge"), isServing: { isServing }) { _ in
            RecordingShard(journal, admits: admits, answer: answer)
        }
        let result: Result<Void, any Error>
        do {
            let port = try await server.start().port
            result = .success(try await body(TestEdge(server: server, journal: journal, port: port ?? 0)))
        } catch {
            result = .failure(error)
        }
        await server.stop()
        try await group.shutdownGracefully()
        try result.get()
    }

    static func request(_ path: String = "/v1/connect", extra: String = "") -> String {
        "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\(extra)\r\n"
    }

    /// The head of the answer to a plain request, which opens no WebSocket.
    func answer(_ headers: String) async throws -> String {
        let client = try RawClient(port: port)
        try await client.send("GET /v1/connect HTTP/1.1\r\nHost: 127.0.0.1\r\n\(headers)\r\n")
        return try await client.readHead()
    }

    /// A client after its handshake.
    func client(receiveBuffer: Int32? = nil) async throws -> RawClient {
        let client = try RawClient(port: port, receiveBuffer: receiveBuffer)
        try await client.send(Self.request())
        let head = try await client.readHead()
        guard head.hasPrefix("HTTP/1.1 101 ") else { throw Unwelcome(head: head) }
        return client
    }

    struct Unwelcome: Error { let head: String }
}

extension EdgeConnection {
    convenience init(on loop: EdgeLoop) {
        self.init(on: loop, from: ClientAddress(named: "127.0.0.1"))
    }
}
