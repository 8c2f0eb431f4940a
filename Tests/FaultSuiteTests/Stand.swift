// An echo server, a proxy in front of it, and clients.

import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import TestSupport

@testable import Harness

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A proxy under test.
struct Stand {
    let proxy: Proxy
    private let listener: any Channel
    private let servers = NIOLockedValueBox<[Line]>([])

    init(isRedis: Bool = false) async throws {
        let servers = servers
        listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                let line = Line(channel)
                servers.withLockedValue { $0.append(line) }
                return line.listen(echoing: true)
            }
            .bind(host: "127.0.0.1", port: 0).get()
        proxy = try await Proxy(to: listener.localAddress?.port, isRedis: isRedis)
    }

    func client() async throws -> Line {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: proxy.port).get()
        let line = Line(channel)
        try await line.listen(echoing: false).get()
        return line
    }

    /// The server's end of the first client's connection.
    func server() async throws -> Line {
        try await eventually("the server is reached") { !servers.withLockedValue { $0.isEmpty } }
        return servers.withLockedValue { $0[0] }
    }
}

/// One end of a connection, and what it received.
final class Line: Sendable {
    private let channel: any Channel
    private let words = NIOLockedValueBox("")

    init(_ channel: any Channel) {
        self.channel = channel
    }

    var text: String { words.withLockedValue { $0 } }
    var isClosed: Bool { !channel.isActive }

    func listen(echoing: Bool) -> EventLoopFuture<Void> {
        let words = words
        return channel.eventLoop.submit { [channel] in
            try channel.pipeline.syncOperations.addHandler(
                Ear { bytes in
                    words.withLockedValue { $0 += String(buffer: bytes) }
                    if echoing { channel.writeAndFlush(bytes, promise: nil) }
                })
        }
    }

    func send(_ text: String) async throws {
        try await channel.writeAndFlush(ByteBuffer(string: text))
    }

    func heard(_ text: String) async throws {
        try await eventually("\(text) is heard, not \(self.text)", within: .seconds(5)) { self.text == text }
    }

    func close() async throws {
        try await channel.close()
    }

    func reset() async throws {
        try await (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        try await channel.close()
    }

    private final class Ear: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let heard: (ByteBuffer) -> Void

        init(_ heard: @escaping (ByteBuffer) -> Void) {
            self.heard = heard
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            heard(unwrapInboundIn(data))
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            context.close(promise: nil)
        }
    }
}
