// The handshake over real sockets.

import Dispatch
import Logging
import NIOCore
import NIOPosix
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallServer

@Suite("The edge's handshake", .timeLimit(.minutes(1)))
struct EdgeHandshakeTests {
    /// Returns the status of the response to a request, after which the stream must end.
    private func status(of request: String, from edge: TestEdge) async throws -> Int? {
        let client = try RawClient(port: edge.port)
        try await client.send(request)
        let status = try await client.readStatus()
        _ = try await client.readToEnd()
        return status
    }

    @Test("opens a WebSocket and receives messages")
    func opens() async throws {
        try await TestEdge.with { edge in
            let client = try RawClient(port: edge.port)
            try await client.send(TestEdge.request())
            let head = try await client.readHead()
            #expect(head.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n"))
            #expect(head.contains("\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"))
            try await client.send(.text("hello"))
            #expect(try await client.readFrame() == .text("echo hello"))
            #expect(edge.journal.all == ["connected", "hello"])
            #expect(edge.server.connections == 1)
        }
    }

    @Test("loses nothing that arrives together with the request", arguments: [0, 1, 5, 200, 1000])
    func earlyFrames(padding: Int) async throws {
        try await TestEdge.with { edge in
            let client = try RawClient(port: edge.port)
            let long = String(repeating: "x", count: 700)
            let frames = [ClientFrame.text("one"), .text(long), .ping("p"), .text("two")].flatMap(\.bytes)
            let header = "X-Padding: \(String(repeating: "p", count: padding))\r\n"
            try await client.send(Array(TestEdge.request(extra: header).utf8) + frames)
            #expect(try await client.readStatus() == 101)
            for text in ["one", long] {
                #expect(try await client.readFrame() == .text("echo \(text)"))
            }
            #expect(try await client.readFrame() == .pong("p"))
            #expect(try await client.readFrame() == .text("echo two"))
            #expect(edge.journal.all == ["connected", "one", "700 bytes", "two"])
        }
    }

    @Test("loses nothing, however request and first frames are split")
    func cutAnywhere() async throws {
        try await TestEdge.with { edge in
            let bytes = Array(TestEdge.request().utf8) + ClientFrame.text("hello").bytes
            for cut in stride(from: bytes.count - 16, to: bytes.count, by: 1) {
                let client = try RawClient(port: edge.port)
                try await client.send(Array(bytes[..<cut]))
                try await client.send(Array(bytes[cut...]))
                _ = try await client.readHead()
                #expect(try await client.readFrame() == .text("echo hello"))
            }
        }
    }

    @Test("accepts a request byte by byte")
    func slowly() async throws {
        try await TestEdge.with { edge in
            let client = try RawClient(port: edge.port)
            for byte in Array(TestEdge.request().utf8) + ClientFrame.text("hello").bytes {
                try await client.send([byte])
            }
            #expect(try await client.readStatus() == 101)
            #expect(try await client.readFrame() == .text("echo hello"))
        }
    }

    @Test("says what is wrong with a request")
    func refuses() async throws {
        let requests = [
            ("GET /x HTTP/1.1\r\nHost: a\r\n\r\n", 404),
            ("GET /v1/connect HTTP/1.1\r\nHost: a\r\n\r\n", 426),
            ("POST /v1/connect HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n12345", 405),
            ("CONNECT /v1/connect:80 HTTP/1.1\r\nHost: a\r\n\r\n", 404),
            (TestEdge.request(extra: "Origin: https://evil.example\r\n"), 403),
            (TestEdge.request(extra: "Content-Length: 2\r\n") + "ab", 400),
            (TestEdge.request(extra: "Transfer-Encoding: chunked\r\n") + "1\r\na\r\n0\r\n\r\n", 400),
            ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
            ("\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}", 400),
            ("hello\r\n\r\n", 400),
        ]
        try await TestEdge.with { edge in
            for (request, expected) in requests {
                let status = try await status(of: request, from: edge)
                #expect(status == expected, "\(request)")
            }
            #expect(edge.journal.all.isEmpty)
        }
    }

    /// Browsers tell a page nothing of a WebSocket that was refused, so it asks with a plain request.
    @Test("tells a page that only asks whether its origin may connect")
    func plainRequests() async throws {
        try await TestEdge.with { edge in
            for (path, origin, accept, status) in [
                ("/v1/connect", "http://localhost:1", "*/*", 426),
                // No error in the console of a page that works.
                ("/v1/connect", "http://localhost:1", "application/rollcall", 204),
                ("/v1/connect?x", "https://evil.example", "application/rollcall", 403),
                ("/x", "https://evil.example", "application/rollcall", 404),
            ] {
                let client = try RawClient(port: edge.port)
                let request = "GET \(path) HTTP/1.1\r\nHost: a\r\nOrigin: \(origin)\r\nAccept: \(accept)\r\n\r\n"
                try await client.send(request)
                let answer = String(decoding: try await client.readToEnd(), as: UTF8.self)
                #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
                #expect(answer.contains("\r\nAccess-Control-Allow-Origin: *\r\n"))
                #expect(answer.contains("\r\nRollcall: 1\r\n") && answer.contains("Content-Length") == (status != 204))
            }
        }
    }

    /// Load balancers ask for this path by default, and took every worker for ill.
    @Test(
        "tells a load balancer at its root whether the worker takes devices, whatever limits are reached",
        arguments: [true, false])
    func health(isServing: Bool) async throws {
        try await TestEdge.with(isServing: isServing) {
            ($0.sessions, $0.connectionsPerAddress) = (0, 1)
        } body: { edge in
            let other = try RawClient(port: edge.port)
            try await other.send(TestEdge.request())
            for line in [
                "GET /", "HEAD /", "OPTIONS /", "GET /?x", "GET http://10.0.0.1:80/", "GET http://10.0.0.1?x=/y",
            ] {
                let method = line.prefix(4)
                let client = try RawClient(port: edge.port)
                try await client.send("\(line) HTTP/1.1\r\nHost: 10.0.0.1\r\nOrigin: https://a.example\r\n\r\n")
                let answer = String(decoding: try await client.readToEnd(), as: UTF8.self)
                #expect(answer.hasPrefix("HTTP/1.1 \(isServing ? 200 : 503) "))
                #expect(answer.hasSuffix("\r\n\r\n") == (method == "HEAD"))
            }
        }
    }

    @Test("limits the size of a request")
    func bounds() async throws {
        let long = String(repeating: "a", count: 9000)
        let requests = [
            TestEdge.request(extra: "X-Long: \(long)\(long)\r\n"), "GET /\(long)\(long) HTTP/1.1\r\n",
            TestEdge.request(extra: (0..<200).map { "X-\($0): 1\r\n" }.joined()),
            TestEdge.request(extra: (0..<5).map { "X-\($0): \(long.prefix(4000))\r\n" }.joined()),
            "GET / HTTP/1.1\r\n\(long)\(long)",
        ]
        try await TestEdge.with { edge in
            for request in requests {
                let status = try await status(of: request, from: edge)
                #expect(status == 431, "\(request.prefix(40))")
            }
            // Only silence would end this one, after half a minute.
            let client = try RawClient(port: edge.port)
            try await client.send(TestEdge.request(extra: "Cookie: \(long)\r\n"))
            #expect(try await client.readStatus() == 101)
        }
    }

    @Test("closes the connection if no request arrives")
    func slowHandshake() async throws {
        try await TestEdge.with {
            $0.handshake = .milliseconds(300)
        } body: { edge in
            let silent = try RawClient(port: edge.port)
            let halting = try RawClient(port: edge.port)
            try await halting.send("GET /v1/connect HTTP/1.1\r\n")
            #expect(try await silent.readToEnd() == [])
            #expect(try await halting.readToEnd() == [])
            let prompt = try await edge.client()
            try await prompt.send(.text("still served"))
            #expect(try await prompt.readFrame() == .text("echo still served"))
        }
    }

    /// Regression: the parser reports an incomplete request, which was counted as a bad request in addition to the
    /// actual cause.
    @Test("counts a missing request once, and one whose client has disconnected not at all")
    func countedOnce() async throws {
        try await TestEdge.with {
            $0.handshake = .seconds(3)
        } answer: { _, connection in
            let refused = connection.loop.tally.refused.occurred.map { "\($0.key.rawValue) \($0.value)" }.sorted()
            connection.send(ServerFrame(text: Array("refused: \(refused)".utf8)))
        } body: { edge in
            for way in [RawClient.endSending, RawClient.reset, RawClient.close] {
                let gone = try RawClient(port: edge.port)
                try await gone.send("GET /v1/connect HTTP/1.1\r\nHost: a")
                way(gone)()
            }
            let halting = try RawClient(port: edge.port)
            try await halting.send("GET /v1/connect HTTP/1.1\r\n")
            #expect(try await halting.readToEnd() == [])
            let witness = try await edge.client()
            try await witness.send(.text("counts"))
            #expect(try await witness.readFrame() == .text(#"refused: ["late 1"]"#))
        }
    }

    @Test("time in which the worker itself was suspended does not count against a handshake")
    func asleep() async throws {
        let wake = DispatchSemaphore(value: 0)
        try await TestEdge.with {
            $0.handshake = .seconds(2)
        } answer: { _, _ in
            wake.wait()
        } body: { edge in
            let sleeper = try await edge.client()
            let waiting = try RawClient(port: edge.port)
            // When a third handshake has succeeded, the second one has started.
            _ = try await edge.client()
            try await sleeper.send(.text("sleep"))
            try await eventually("the loop sleeps") { edge.journal.contains("sleep") }
            let end = ContinuousClock.now + .seconds(3)
            try await eventually("more time than a handshake may take has passed") { ContinuousClock.now > end }
            try await waiting.send(TestEdge.request())
            wake.signal()
            #expect(try await waiting.readStatus() == 101)
        }
    }

    @Test("limits the number of sessions")
    func full() async throws {
        try await TestEdge.with {
            $0.sessions = 2
        } body: { edge in
            let first = try await edge.client()
            let second = try await edge.client()
            let third = try RawClient(port: edge.port)
            try await third.send(TestEdge.request())
            let refusal = try await third.readHead()
            #expect(refusal.hasPrefix("HTTP/1.1 503 ") && refusal.contains("\r\nRetry-After: "))
            #expect(try await edge.answer("") == refusal, "as to a page that asks before it opens a WebSocket")
            first.close()
            try await eventually("a seat is free") { edge.server.connections == 1 }
            let fourth = try await edge.client()
            try await fourth.send(.text("in"))
            #expect(try await fourth.readFrame() == .text("echo in"))
            second.close()
        }
    }

    @Test("uses every loop of its group, and each shard on its own loop")
    func loops() async throws {
        try await TestEdge.with(threads: 3) { _ in
        } answer: { _, connection in
            connection.loop.eventLoop.assertInEventLoop()
            connection.send(ServerFrame(text: Array("\(ObjectIdentifier(connection.loop.eventLoop))".utf8)))
        } body: { edge in
            var seen: Set<ReceivedFrame> = []
            for _ in 0..<6 {
                let client = try await edge.client()
                try await client.send(.text("which"))
                seen.insert(try await client.readFrame())
            }
            #expect(seen.count == 3)
        }
    }

    @Test("reports the address where it cannot listen")
    func takenPort() async throws {
        try await TestEdge.with { edge in
            var settings = EdgeSettings()
            settings.port = edge.port
            let other = EdgeServer(settings, group: MultiThreadedEventLoopGroup.singleton, logger: .init(label: "edge"))
            { _ in
                RecordingShard(Journal()) { _, _ in }
            }
            let error = await #expect(throws: ListenError.self) { try await other.start() }
            #expect(error?.code == .portTaken)
            #expect(error?.description.contains("127.0.0.1:\(edge.port)") == true)
        }
    }

    @Test("accepts no more connections on request, and keeps the open ones")
    func stopAccepting() async throws {
        try await TestEdge.with { edge in
            let client = try await edge.client()
            await edge.server.stopAccepting()
            // On a busy machine another test may listen on this port by now. The journal tells whether it was this edge.
            try? await RawClient(port: edge.port).send(TestEdge.request())
            try await client.send(.text("still here"))
            #expect(try await client.readFrame() == .text("echo still here"))
            await edge.server.stop()
            #expect(try await client.readToEnd() == [])
            #expect(edge.journal.all == ["connected", "still here", "lost"])
        }
    }
}
