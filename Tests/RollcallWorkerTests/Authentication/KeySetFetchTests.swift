// How a worker treats an issuer's server that it requests keys from, over real HTTP.

import Foundation
import Hummingbird
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import ServiceLifecycle
import TestSupport
import Testing

@testable import RollcallWorker

@Suite("Keys from a URL", .timeLimit(.minutes(1)))
struct KeySetFetchTests {
    /// Requests a path from a server whose answer depends on the path.
    private func fetch(_ path: String, deadline: Duration = .seconds(3)) async throws -> [UInt8] {
        let router = Router()
        router.get("keys") { _, _ in #"{"keys":[]}"# }
        router.get("late") { _, _ in
            try await Task.sleep(for: .milliseconds(2500))
            return #"{"keys":[]}"#
        }
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
            router: router, server: HTTPConnections.server,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { port.yield($0.localAddress?.port ?? 0) },
            logger: Logger(label: "issuer") { _ in SwiftLogNoOpLogHandler() })
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await app.run() }
            defer { tasks.cancelAll() }
            let listening = await ports.first { _ in true } ?? 0
            return try await KeySetFetch(url: "http://127.0.0.1:\(listening)/\(path)", deadline: deadline).contents()
        }
    }

    /// Regression: a strict server behind the scheme's own port answered 404.
    @Test(
        "the Host that a server is sent has no port if that is the scheme's own",
        arguments: [
            ("https://id.example/keys", "id.example"), ("https://id.example:443", "id.example"),
            ("http://127.0.0.1", "127.0.0.1"), ("http://127.0.0.1:443", "127.0.0.1:443"), ("https://[::1]", "[::1]"),
            ("https://[::1]:8443/x", "[::1]:8443"), ("https://id.example:65535", "id.example:65535"),
        ])
    func authority(url: String, authority: String) throws {
        #expect(try #require(HTTPAddress(url)).authority == authority)
    }

    @Test("a key set is fetched")
    func fetched() async throws {
        #expect(try await fetch("keys") == Array(#"{"keys":[]}"#.utf8))
    }

    /// Regression: two seconds without a byte ended the request, long before the deadline.
    @Test("an answer that starts late is accepted within the deadline")
    func late() async throws {
        #expect(try await fetch("late", deadline: .seconds(30)) == Array(#"{"keys":[]}"#.utf8))
    }

    @Test("over TLS, the server's certificate must be trusted by the system or by the configured authority")
    func encrypted() async throws {
        let (certificates, others) = (try TestCertificates(), try TestCertificates(.foreign))
        try await withIssuer(certificates.first) { url in
            let set = try await KeySetFetch(url: url, authority: certificates.authority.path).contents()
            #expect(set == Array(#"{"keys":[]}"#.utf8))
            for authority in [nil, others.authority.path, "/no/such/file"] {
                await #expect(throws: (any Error).self, "\(authority ?? "-")") {
                    try await KeySetFetch(url: url, authority: authority).contents()
                }
            }
        }
    }

    @Test("an issuer that supports at most TLS 1.1 is refused")
    func outdated() async throws {
        let certificates = try TestCertificates()
        let pair = certificates.first
        for version in [TLSVersion.tlsv11, .tlsv12] {
            try await withIssuer(pair, newest: version) { url in
                let set = try? await KeySetFetch(url: url, authority: certificates.authority.path).contents()
                #expect((set == nil) == (version == .tlsv11), "\(version)")
            }
        }
    }

    /// An issuer over TLS that gives every request the same answer.
    private func withIssuer(
        _ pair: TestCertificates.Pair, newest: TLSVersion? = nil, _ body: (_ url: String) async throws -> Void
    ) async throws {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(pair.certificate.path).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: pair.key.path, format: .pem)))
        configuration.maximumTLSVersion = newest
        let tls = try NIOSSLContext(configuration: configuration)
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(NIOSSLServerHandler(context: tls), KeySetHandler())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let result: Result<Void, any Error>
        do {
            result = .success(try await body("https://127.0.0.1:\(server.localAddress?.port ?? 0)/keys"))
        } catch {
            result = .failure(error)
        }
        try await server.close()
        try result.get()
    }

    /// Answers everything it receives.
    private final class KeySetHandler: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 11\r\nConnection: close\r\n\r\n{\"keys\":[]}"
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
        }
    }

    @Test("redirects are not followed, and other status codes are errors", arguments: ["elsewhere", "nothing"])
    func others(path: String) async {
        await #expect(throws: (any Error).self) { try await fetch(path) }
    }

    @Test("an endless answer is cut off, and so is one that takes too long", arguments: ["endless", "slow"])
    func boundless(path: String) async {
        await #expect(throws: (any Error).self) { try await fetch(path) }
    }
}
