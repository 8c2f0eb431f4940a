// A server that is not Redis: it accepts connections, and sends what the test says, or nothing.

import NIOCore
import NIOPosix
import Synchronization

final class Listener: Sendable {
    private let channel: any Channel
    private let accepted: Counter

    private final class Counter: Sendable {
        let value = Atomic(0)
    }

    /// - Parameter answer: what to send whenever bytes arrive; `nil` sends nothing.
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

    /// The number of connections so far.
    var acceptedCount: Int { accepted.value.load(ordering: .relaxed) }

    var url: String { "redis://127.0.0.1:\(channel.localAddress!.port!)" }

    func close() async throws { try await channel.close() }
}

private final class Answerer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let answer: String?

    init(_ answer: String?) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let answer else { return }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
    }
}
