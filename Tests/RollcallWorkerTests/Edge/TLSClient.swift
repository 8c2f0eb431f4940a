// A client with TLS that sends what a test says, and reads only while the test wants it to.

import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import TestSupport

/// A TLS connection to an edge, without a WebSocket library.
final class TLSClient: Sendable {
    private let channel: any Channel
    private let inbox: Inbox

    /// Connects and performs the TLS handshake.
    init(
        port: Int, trusting authority: URL, receiveBuffer: Int32? = nil,
        _ change: (inout TLSConfiguration) -> Void = { _ in }
    ) async throws {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file(authority.path)
        tls.applicationProtocols = ["h2", "http/1.1"]
        change(&tls)
        let context = try NIOSSLContext(configuration: tls)
        let inbox = Inbox()
        self.inbox = inbox
        var bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        if let receiveBuffer {
            bootstrap = bootstrap.channelOption(.socketOption(.so_rcvbuf), value: SocketOptionValue(receiveBuffer))
        }
        channel = try await bootstrap.channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandlers(
                    NIOSSLClientHandler(context: context, serverHostname: nil), Reader(inbox))
            }
        }
        .connect(host: "127.0.0.1", port: port).get()
        try await eventually("the TLS handshake ends") { inbox.isSettled }
        if let error = inbox.error { throw error }
    }

    var hasEnded: Bool { inbox.hasEnded }
    /// The negotiated protocol.
    var alpn: String? { inbox.alpn }
    var received: String { String(decoding: inbox.bytes, as: UTF8.self) }
    var receivedBytes: Int { inbox.bytes.count }

    /// The name in the server's certificate.
    func serverName() async throws -> String? {
        try await channel.eventLoop.submit { [channel] in
            let tls = try channel.pipeline.syncOperations.handler(type: NIOSSLClientHandler.self)
            return tls.peerCertificate.map { "\($0)" }
        }.get()
    }

    func send(_ text: String) async throws { try await channel.writeAndFlush(ByteBuffer(string: text)) }
    func send(_ frame: ClientFrame) async throws { try await channel.writeAndFlush(ByteBuffer(bytes: frame.bytes)) }

    /// Sets whether incoming data is read from the kernel.
    func setReading(_ isReading: Bool) async throws {
        try await channel.setOption(.autoRead, value: isReading).get()
    }

    func hears(_ text: String) async throws {
        try await eventually("\(text) arrives") { received.contains(text) }
    }

    func close() async throws {
        try? await channel.close()
    }

    private final class Inbox: Sendable {
        private struct State {
            var bytes: [UInt8] = []
            var alpn: String?
            var isUp = false
            var hasEnded = false
            var error: (any Error)?
        }
        private let state = NIOLockedValueBox(State())

        var bytes: [UInt8] { state.withLockedValue { $0.bytes } }
        var alpn: String? { state.withLockedValue { $0.alpn } }
        var hasEnded: Bool { state.withLockedValue { $0.hasEnded } }
        var isSettled: Bool { state.withLockedValue { $0.isUp || $0.hasEnded } }
        var error: (any Error)? { state.withLockedValue { $0.isUp ? nil : $0.error ?? ChannelError.eof } }

        func came(_ buffer: ByteBuffer) { state.withLockedValue { $0.bytes += buffer.readableBytesView } }
        func up(_ alpn: String?) { state.withLockedValue { ($0.isUp, $0.alpn) = (true, alpn) } }
        func ended(_ error: (any Error)?) {
            state.withLockedValue { ($0.hasEnded, $0.error) = (true, $0.error ?? error) }
        }
    }

    private final class Reader: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let inbox: Inbox

        init(_ inbox: Inbox) { self.inbox = inbox }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { inbox.came(unwrapInboundIn(data)) }
        func channelInactive(context: ChannelHandlerContext) { inbox.ended(nil) }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case .handshakeCompleted(let alpn)? = event as? TLSUserEvent { inbox.up(alpn) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            inbox.ended(error)
            context.close(promise: nil)
        }
    }
}
