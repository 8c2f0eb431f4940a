import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import TestSupport
import Testing

@testable import RollcallServer
@testable import RollcallWorker

@Suite("The admin port, byte by byte")
struct AdminWireTests {
    /// Sends bytes, and returns everything received until the peer ends the connection.
    private func exchange(_ text: String, port: Int) async throws -> String {
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: text))
            outbound.finish()
            var answer = ""
            for try await bytes in inbound { answer += String(buffer: bytes) }
            return answer
        }
    }

    @Test("invalid HTTP, or an incomplete body, ends that connection only")
    func broken() async throws {
        try await withAdmin { ask in
            #expect(try await exchange("nonsense\r\n\r\n", port: ask.port).hasPrefix("HTTP/1.1 400"))
            let field = String(repeating: "x", count: 100_000)
            let large = "GET /health HTTP/1.1\r\nHost: localhost\r\nX: \(field)\r\n\r\n"
            #expect(try await exchange(large, port: ask.port).hasPrefix("HTTP/1.1 400"))
            let badChunk = "POST /v1/presence HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"
            #expect(try await exchange(badChunk, port: ask.port).hasPrefix("HTTP/1.1 400"))
            let cut = "POST /v1/presence HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{\"users\""
            _ = try await exchange(cut, port: ask.port)
            #expect(try await ask("GET", "/health").status == 200)
        }
    }

    /// Regression: a client that sent single bytes slowly kept a worker from stopping until it was killed.
    @Test("a request that never ends does not delay a stop", .timeLimit(.minutes(1)))
    func dripping() async throws {
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        var configuration = WorkerConfiguration.Admin()
        configuration.port = 0
        let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let server = AdminServer(
            configuration, node: DictionaryNode(), group: .singletonMultiThreadedEventLoopGroup, logger: silent
        ) { listening.yield($0.port ?? 0) }
        let services = ServiceGroup(services: [UntilStopped(server: server)], logger: silent)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await services.run() }
            let client = try RawClient(port: await ports.first { _ in true } ?? 0)
            try await client.send("POST /v1/presence HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{")
            tasks.addTask {
                while !Task.isCancelled {
                    try? await client.send(" ")
                    try? await Task.sleep(for: .milliseconds(100))
                }
            }
            await services.triggerGracefulShutdown()
            try await tasks.next()
            tasks.cancelAll()
        }
    }

    /// Regression: 128 of them kept `GET /health` waiting for a minute, without a token.
    @Test("requests that are never completed delay others by seconds", .timeLimit(.minutes(1)))
    func halfSent() async throws {
        try await withAdmin { ask in
            var held: [RawClient] = []
            for _ in 0..<140 {
                let client = try RawClient(port: ask.port)
                try await client.send("GET /health HTTP/1.1\r\nHost: local")
                held.append(client)
            }
            #expect(try await ask("GET", "/health").status == 200)
            withExtendedLifetime(held) {}
        }
    }

    @Test("connections that a pool keeps after an authorised request give way to others", .timeLimit(.minutes(1)))
    func pooled() async throws {
        try await withAdmin { ask in
            var pool: [RawClient] = []
            for path in ["/health"] + Array(repeating: "/v1/presence?user=a", count: 140) {
                let client = try RawClient(port: ask.port)
                try await client.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                let head = try await client.readHead()
                #expect(head.contains("Keep-Alive: timeout=75") == (path != "/health"))
                pool.append(client)
            }
            #expect(try await ask("GET", "/health").status == 200)
            withExtendedLifetime(pool) {}
        }
    }

    /// Regression: for as long as 128 of an app's server were under way and then kept, nobody else had an answer.
    @Test("200 connections of an app's server, busy or kept, leave room for probes", .timeLimit(.minutes(1)))
    func crowded() async throws {
        try await withAdmin { ask in
            var pool: [RawClient] = []
            for _ in 0..<200 { pool.append(try RawClient(port: ask.port)) }
            let head = "POST /v1/presence HTTP/1.1\r\nHost: localhost\r\nContent-Length: 15\r\n\r\n"
            for client in pool { try? await client.send(head) }
            for path in ["/health", "/ready"] { #expect(try await ask("GET", path).status == 200) }
            let answer = try await exchange(
                "GET /v1/presence?user=a HTTP/1.1\r\nHost: localhost\r\n\r\n", port: ask.port)
            #expect(answer.hasPrefix("HTTP/1.1 503 ") && answer.lowercased().contains("retry-after: 1"), "\(answer)")
            #expect(answer.contains("all connections of this port are in use"))
            for client in pool { try? await client.send(#"{"users":["a"]}"#) }
            var answers: [String: Int] = [:]
            for client in pool { answers[String(((try? await client.readHead()) ?? "").prefix(12)), default: 0] += 1 }
            #expect(answers["HTTP/1.1 200"] == 128, "\(answers)")
            // All are kept, and idle.
            #expect(try await ask("GET", "/v1/presence?user=a").status == 200)
            withExtendedLifetime(pool) {}
        }
    }

    @Test("connections that were never used give way, too", .timeLimit(.minutes(1)))
    func unused() async throws {
        try await withAdmin { ask in
            let silent = try (0..<160).map { _ in try RawClient(port: ask.port) }
            #expect(try await ask("GET", "/v1/presence?user=a").status == 200)
            withExtendedLifetime(silent) {}
        }
    }

    /// Regression: it waited for the rest of its minute, and took the place of another reader.
    @Test("a reader of events that hangs up is forgotten at once", .timeLimit(.minutes(1)))
    func hangsUp() async throws {
        let node = DictionaryNode()
        node.change { $0.events = [] }
        try await withAdmin(node) { ask in
            let began = ContinuousClock.now
            for _ in 0..<40 {
                let rest = try await exchange(
                    "GET /v1/events?after=0&wait=60s HTTP/1.1\r\nHost: localhost\r\n\r\n", port: ask.port)
                #expect(rest.isEmpty)
            }
            #expect(ContinuousClock.now - began < .seconds(30))
        }
    }

    @Test("who asks whether to send a body is told so at once")
    func expects() async throws {
        try await withAdmin { ask in
            let client = try RawClient(port: ask.port)
            try await client.send(
                "POST /v1/presence HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 15\r\n\r\n")
            #expect(try await client.readHead().hasPrefix("HTTP/1.1 100 Continue\r\n"))
            try await client.send(#"{"users":["a"]}"#)
            #expect(try await client.readHead().hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test(
        "what balancers ask by default is answered",
        arguments: [
            "OPTIONS /ready HTTP/1.0", "OPTIONS /health HTTP/1.0", "GET /ready HTTP/1.0", "HEAD /ready HTTP/1.1",
            "GET /ready?x HTTP/1.1", "GET http://10.0.0.1:8081/ready HTTP/1.1",
            "OPTIONS http://elsewhere/ready HTTP/1.1",
        ])
    func probed(line: String) async throws {
        try await withAdmin { ask in
            let answer = try await exchange("\(line)\r\nHost: 10.0.0.1\r\nConnection: close\r\n\r\n", port: ask.port)
            #expect(answer.hasPrefix("HTTP/1.1 200 ") || answer.hasPrefix("HTTP/1.0 200 "), "\(answer)")
        }
    }

    /// Stops like a worker that has nothing else to do.
    private struct UntilStopped: Service {
        let server: AdminServer

        func run() async throws { try await server.run {} }
    }

    @Test("without a token, the port answers only to its own host names, because of DNS rebinding")
    func rebinding() async throws {
        try await withAdmin { ask in
            for (host, status) in [
                ("rebound.example", 401), ("rebound.example:\(ask.port)", 401), ("127.0.0.1.rebound.example", 401),
                ("[::1].rebound.example", 401), ("127.0.0.1:\(ask.port)", 200), ("LOCALHOST", 200), ("[::1]:8081", 200),
            ] {
                let request = "GET /v1/presence?user=a HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n"
                let answer = try await exchange(request, port: ask.port)
                #expect(answer.hasPrefix("HTTP/1.1 \(status)"), "\(host)")
            }
        }
    }

    @Test(
        "without a token, the port answers no request that came through a proxy",
        arguments: ["Forwarded", "x-forwarded-for", "X-Forwarded-Proto"])
    func proxied(header: String) async throws {
        try await withAdmin { ask in
            let request =
                "GET /v1/presence?user=a HTTP/1.1\r\nHost: localhost\r\n\(header): a\r\nConnection: close\r\n\r\n"
            let answer = try await exchange(request, port: ask.port)
            #expect(answer.hasPrefix("HTTP/1.1 401"), "\(answer)")
        }
    }

    @Test(
        "unusual paths are answered",
        arguments: [
            ("*", 404), ("http://elsewhere/health", 200), ("/%", 404), ("/v1/conversations/%/typing", 400),
            ("/v1/conversations/%4/typing", 400), ("/v1/conversations/%zz/typing", 400),
            ("/v1/conversations/%ff/typing", 400), ("/v1/presence?user=%2", 400), ("/v1/presence?&&=", 400),
            ("/v1/presence?user=a&user", 200), ("/health?", 200), ("/health?x=%", 200), ("/v1/../health", 404),
            ("/v1/conversations/../typing", 200),
        ])
    func oddPaths(path: String, status: Int) async throws {
        try await withAdmin { ask in
            let answer = try await exchange(
                "GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", port: ask.port)
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
        }
    }
}
