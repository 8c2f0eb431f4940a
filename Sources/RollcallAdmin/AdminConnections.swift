// Connection limits of the admin port. Anyone who can reach the port can open connections without a token. Each request
// must therefore arrive in time, and a full port closes the connection that has been silent longest.

import NIOConcurrencyHelpers
package import NIOCore
import NIOHTTP1
import RollcallListener
import RollcallShards

/// The open connections of all event loops.
package final class AdminConnections: Sendable {
    /// The most open connections.
    static let most = OpenFileLimit.adminConnections
    /// The time limit for a request head, from the connection's start or from the first byte of a later request.
    let headTime: TimeAmount
    /// The time limit for the rest of a request.
    static let bodyTime = TimeAmount.seconds(10)
    /// How long a client may read nothing of an answer.
    let readTime: TimeAmount

    private struct Standing {
        let channel: any Channel
        /// When the last byte arrived; `nil` while a request is being answered.
        var silentSince: NIODeadline?
    }

    private let standing = NIOLockedValueBox<[ObjectIdentifier: Standing]>([:])

    package init(headTime: TimeAmount = .seconds(5), readTime: TimeAmount = .seconds(10)) {
        (self.headTime, self.readTime) = (headTime, readTime)
    }

    /// Adds a connection. If there are too many, closes the one that has been silent longest, or the new one if all
    /// others are waiting for responses.
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

/// One connection; closes it when a request is late. Use on its event loop only.
final class AdminConnection {
    private enum Phase {
        /// No byte of the next request has arrived.
        case between
        case head(deadline: Scheduled<Void>)
        case body(deadline: Scheduled<Void>)
        case answering
    }

    private let channel: any Channel
    private let connections: AdminConnections
    private var phase = Phase.between
    /// Requests whose responses are not complete. A refused request is answered before it has fully arrived, and
    /// clients may pipeline requests.
    private var unanswered = 0
    /// The next look at the client, while more of the answers waits than the kernel takes.
    private var stall: Scheduled<Void>?

    /// Starts the time limits of a new connection. Its HTTP handlers are already in the pipeline.
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

    /// A response may end before its request has fully arrived. The time limits for the rest of that request then stay
    /// in force.
    private func answered() {
        unanswered = max(0, unanswered - 1)
        if case .answering = phase { waitForAnswers() }
    }

    private func waitForAnswers() {
        phase = unanswered > 0 ? .answering : .between
        connections.silent(channel, since: unanswered > 0 && channel.isWritable ? nil : .now())
    }

    /// The client started or stopped reading. A client that does not read its response loses its connection.
    private func writabilityChanged() {
        stall?.cancel()
        stall = nil
        if !channel.isWritable { awaitReader(of: waitingBytes) }
        if case .answering = phase { waitForAnswers() }
    }

    /// Closes the connection if nothing of what waits leaves within `readTime`. An answer may be one large buffer, so
    /// the channel is not writable until nearly all of it was read, however steadily that happens.
    ///
    /// - Parameters:
    ///   - waiting: how many bytes waited at the last look.
    ///   - looks: how often in a row none of them had left.
    private func awaitReader(of waiting: Int, looks: Int = 0) {
        let pause = TimeAmount.nanoseconds(connections.readTime.nanoseconds / Int64(Self.mostLooks))
        stall = channel.eventLoop.assumeIsolated().scheduleTask(in: pause) { [self] in
            lookAtReader(of: waiting, looks: looks)
        }
    }

    private func lookAtReader(of waiting: Int, looks: Int) {
        let rest = waitingBytes
        let looks = rest < waiting ? 0 : looks + 1
        if looks < Self.mostLooks { awaitReader(of: rest, looks: looks) } else { channel.closeSocket() }
    }

    private static let mostLooks = 10

    /// Bytes that the kernel has not yet taken.
    private var waitingBytes: Int {
        (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
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

    /// Sees raw bytes before HTTP parsing, since a request head may take long to arrive.
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

    /// Sees where requests and responses begin and end.
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
