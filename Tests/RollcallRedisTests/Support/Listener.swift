// A server that is not Redis: it accepts connections, and sends what the test says, or nothing.

import NIOCore
import NIOPosix
import Synchronization

final class Listener: Sendable {
    private let channel: any Channel
    private let accepted: Counter
    private let ended: Counter

    private final class Counter: Sendable {
        let value = Atomic(0)

        func count() { value.add(1, ordering: .relaxed) }
    }

    /// - Parameters:
    ///   - answer: what to send whenever bytes arrive; `nil` sends nothing.
    ///   - pause: sends the answer once for each command instead, each after a pause.
    init(answer: String? = nil, pause: TimeAmount? = nil) async throws {
        let (accepted, ended) = (Counter(), Counter())
        (self.accepted, self.ended) = (accepted, ended)
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                accepted.count()
                channel.closeFuture.whenComplete { _ in ended.count() }
                return channel.eventLoop.makeCompletedFuture {
                    let handler: any ChannelHandler =
                        if let answer, let pause { PatientAnswerer(answer, pause: pause) } else { Answerer(answer) }
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    /// The number of connections so far.
    var acceptedCount: Int { accepted.value.load(ordering: .relaxed) }

    /// The number of open connections.
    var openCount: Int { acceptedCount - ended.value.load(ordering: .relaxed) }

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

private final class PatientAnswerer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let answer: String
    private let pause: TimeAmount
    private var owed = 0
    private var isAnswering = false

    init(_ answer: String, pause: TimeAmount) {
        self.answer = answer
        self.pause = pause
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Each command is an array.
        owed += unwrapInboundIn(data).readableBytesView.count { $0 == UInt8(ascii: "*") }
        if !isAnswering { answerLater(context) }
    }

    private func answerLater(_ context: ChannelHandlerContext) {
        isAnswering = owed > 0
        guard isAnswering else { return }
        context.eventLoop.assumeIsolated().scheduleTask(in: pause) { [self] in
            owed -= 1
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
            answerLater(context)
        }
    }
}
