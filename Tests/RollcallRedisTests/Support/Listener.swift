// A server that is no Redis: it accepts, and says what it is told to say, or nothing.

import NIOCore
import NIOPosix
import Synchronization

final class Listener: Sendable {
    private let channel: any Channel
    private let accepted: Counter

    private final class Counter: Sendable {
        let value = Atomic(0)
    }

    /// - Parameter answer: what to say whenever bytes come in; `nil` says nothing.
    init(answer: String? = nil) async throws {
        let accepted = Counter()
        self.accepted = accepted
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                accepted.value.add(1, ordering: .relaxed)
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Answerer(answer))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    /// How many connections there have been.
    var acceptedCount: Int { accepted.value.load(ordering: .relaxed) }

    var url: String { "redis://127.0.0.1:\(channel.localAddress!.port!)" }

    func close() async throws {
        try await channel.close()
    }
}

private final class Answerer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let answer: String?

    init(_ answer: String?) {
        self.answer = answer
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let answer else { return }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
    }
}
