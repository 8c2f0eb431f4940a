// The connections of the admin port. Whoever reaches the port can hold connections without a token, so each request must
// arrive in time, and when the port is full, the connection that has been silent longest makes room.

import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1

/// The connections that stand, of all event loops.
final class AdminConnections: Sendable {
    /// How many stand at once.
    static let most = 128
    /// How long the head of a request may take: from the connection, or from the first byte of a later request.
    let headTime: TimeAmount
    /// How long the rest of a request may take.
    static let bodyTime = TimeAmount.seconds(10)
    /// How long a client may read nothing of an answer.
    static let readTime = TimeAmount.seconds(10)

    private struct Standing {
        let channel: any Channel
        /// When its last byte came; `nil` while a request of it is being answered.
        var silentSince: NIODeadline?
    }

    private let standing = NIOLockedValueBox<[ObjectIdentifier: Standing]>([:])

    init(headTime: TimeAmount = .seconds(5)) {
        self.headTime = headTime
    }

    /// Takes a new connection, and closes another if there are too many: the one that has been silent longest, or the new
    /// one if requests of all others are being answered.
    fileprivate func opened(_ channel: any Channel) {
        let surplus: (any Channel)? = standing.withLockedValue { standing in
            var surplus: ObjectIdentifier?
            if standing.count >= Self.most {
                let silent = standing.compactMap { id, one in one.silentSince.map { (id, $0) } }
                guard let longest = silent.min(by: { $0.1 < $1.1 })?.0 else { return channel }
                surplus = longest
            }
            standing[ObjectIdentifier(channel)] = Standing(channel: channel, silentSince: .now())
            return surplus.flatMap { standing.removeValue(forKey: $0)?.channel }
        }
        surplus?.closeSocket()
    }

    fileprivate func silent(_ channel: any Channel, since moment: NIODeadline?) {
        standing.withLockedValue { $0[ObjectIdentifier(channel)]?.silentSince = moment }
    }

    fileprivate func closed(_ channel: any Channel) {
        _ = standing.withLockedValue { $0.removeValue(forKey: ObjectIdentifier(channel)) }
    }
}

/// One connection: closes it when a request is late. On its event loop.
final class AdminConnection {
    private enum Phase {
        /// Nothing of the next request has come.
        case between
        case head(deadline: Scheduled<Void>)
        case body(deadline: Scheduled<Void>)
        case answering
    }

    private let channel: any Channel
    private let connections: AdminConnections
    private var phase = Phase.between
    /// How many requests have begun whose answers have not ended. One that is refused is answered before it is whole,
    /// and a client may send a request before the answer to the one before has come.
    private var unanswered = 0
    /// Runs while more of the answers waits than the kernel takes.
    private var stall: Scheduled<Void>?

    /// Watches over a connection that has just been made, and whose handlers for HTTP stand.
    init(_ channel: any Channel, among connections: AdminConnections) throws {
        (self.channel, self.connections) = (channel, connections)
        let pipeline = channel.pipeline.syncOperations
        let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
        try pipeline.addHandler(Requests(self), position: .after(decoder))
        try pipeline.addHandler(Bytes(self), position: .first)
        connections.opened(channel)
        phase = .head(deadline: deadline(in: connections.headTime))
    }

    private func bytesCame() {
        switch phase {
        case .between: phase = .head(deadline: deadline(in: connections.headTime))
        case .head, .body: break
        case .answering: return
        }
        connections.silent(channel, since: .now())
    }

    private func headCame() {
        stopClock()
        unanswered += 1
        phase = .body(deadline: deadline(in: AdminConnections.bodyTime))
    }

    private func requestCame() {
        stopClock()
        waitForAnswers()
    }

    /// An answer may come before its request is whole; then the rest of that is waited for as before.
    private func answered() {
        unanswered = max(0, unanswered - 1)
        if case .answering = phase { waitForAnswers() }
    }

    private func waitForAnswers() {
        phase = unanswered > 0 ? .answering : .between
        connections.silent(channel, since: unanswered > 0 && channel.isWritable ? nil : .now())
    }

    /// The client has begun or ceased to read: an answer that nobody reads gives its place up.
    private func writabilityChanged() {
        stall?.cancel()
        stall = channel.isWritable ? nil : deadline(in: AdminConnections.readTime)
        if case .answering = phase { waitForAnswers() }
    }

    private func closed() {
        stopClock()
        stall?.cancel()
        connections.closed(channel)
    }

    private func deadline(in time: TimeAmount) -> Scheduled<Void> {
        let channel = channel
        return channel.eventLoop.scheduleTask(in: time) { channel.closeSocket() }
    }

    private func stopClock() {
        switch phase {
        case .head(let deadline), .body(let deadline): deadline.cancel()
        case .between, .answering: break
        }
    }

    /// Sees what comes before it is taken apart: the head of a request may be long under way.
    private final class Bytes: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = ByteBuffer

        private let connection: AdminConnection

        init(_ connection: AdminConnection) {
            self.connection = connection
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            connection.bytesCame()
            context.fireChannelRead(data)
        }

        func channelInactive(context: ChannelHandlerContext) {
            connection.closed()
            context.fireChannelInactive()
        }
    }

    /// Sees requests and answers begin and end.
    private final class Requests: ChannelDuplexHandler, RemovableChannelHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundIn = HTTPServerResponsePart
        typealias OutboundOut = HTTPServerResponsePart

        private let connection: AdminConnection

        init(_ connection: AdminConnection) {
            self.connection = connection
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head: connection.headCame()
            case .body: break
            case .end: connection.requestCame()
            }
            context.fireChannelRead(data)
        }

        func channelWritabilityChanged(context: ChannelHandlerContext) {
            connection.writabilityChanged()
            context.fireChannelWritabilityChanged()
        }

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            if case .end = unwrapOutboundIn(data) { connection.answered() }
            context.write(data, promise: promise)
        }
    }
}
