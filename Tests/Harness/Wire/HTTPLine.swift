// A minimal HTTP/1.1 client for the admin port: one request after another on one connection.

public import NIOCore
internal import NIOPosix

/// A connection to a worker's admin port.
public final class HTTPLine: Sendable {
    public struct Answer: Sendable {
        public let status: Int
        public let body: ByteBuffer
    }

    /// The connection ended, or no response arrived in time.
    public struct NoAnswer: Error {}

    private let channel: any Channel
    private let handler: NIOLoopBound<Handler>

    public init(port: Int) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let handler = try await loop.submit { NIOLoopBound(Handler(), eventLoop: loop) }.get()
        channel = try await ClientBootstrap(group: loop)
            .connectTimeout(.seconds(1))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(handler.value) }
            }
            .connect(host: "127.0.0.1", port: port).get()
        self.handler = handler
    }

    deinit { channel.close(promise: nil) }

    /// Sends a GET request.
    ///
    /// - Throws: ``NoAnswer``; the connection cannot be used afterwards.
    public func get(_ path: String, within limit: Duration) async throws -> Answer {
        try await send("GET", path, within: limit)
    }

    /// Sends a request.
    ///
    /// - Parameter json: the body, if the request has one.
    /// - Throws: ``NoAnswer``; the connection cannot be used afterwards.
    public func send(
        _ method: String, _ path: String, json: String? = nil, within limit: Duration
    ) async throws -> Answer {
        try await channel.eventLoop.flatSubmit { [handler, channel] in
            let promise = channel.eventLoop.makePromise(of: Answer.self)
            handler.value.waiting = promise
            guard channel.isActive else {
                promise.fail(NoAnswer())
                return promise.futureResult
            }
            let body = json.map {
                "Content-Type: application/json\r\nContent-Length: \($0.utf8.count)\r\n\r\n\($0)"
            }
            let request = "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n" + (body ?? "\r\n")
            channel.writeAndFlush(ByteBuffer(string: request), promise: nil)
            let timeout = channel.eventLoop.scheduleTask(in: TimeAmount(limit)) { channel.close(promise: nil) }
            promise.futureResult.whenComplete { _ in timeout.cancel() }
            return promise.futureResult
        }.get()
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        var waiting: EventLoopPromise<Answer>?
        private var unread = ByteBuffer()

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var bytes = unwrapInboundIn(data)
            unread.writeBuffer(&bytes)
            guard let answer = nextAnswer() else { return }
            waiting?.succeed(answer)
            waiting = nil
        }

        func channelInactive(context: ChannelHandlerContext) {
            waiting?.fail(NoAnswer())
            waiting = nil
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            context.close(promise: nil)
        }

        /// The next response, if it is complete.
        private func nextAnswer() -> Answer? {
            let end = ByteBuffer(string: "\r\n\r\n").readableBytesView
            guard let head = unread.readableBytesView.firstRange(of: end) else { return nil }
            let text = String(decoding: unread.readableBytesView[..<head.lowerBound], as: UTF8.self)
            let length = text.firstMatch(of: #/(?i)content-length: *(\d+)/#).flatMap { Int($0.output.1) } ?? 0
            guard unread.writerIndex >= head.upperBound + length else { return nil }
            let status = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
            unread.moveReaderIndex(to: head.upperBound)
            let body = unread.readSlice(length: length) ?? ByteBuffer()
            unread.discardReadBytes()
            return Answer(status: status, body: body)
        }
    }
}
