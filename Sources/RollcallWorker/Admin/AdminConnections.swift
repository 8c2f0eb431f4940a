// How many connections the admin port has, and how long each may be idle.

import HTTPTypes
import HummingbirdCore
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTPTypes

/// The open connections. Where there is room for one more only, the one that has been idle longest gives way, since a
/// connection pool keeps far more of them than it uses.
final class AdminConnections: AvailableConnectionsDelegate {
    private struct State {
        var open = 0
        /// Those between two requests, the longest idle first.
        var idle: [any Channel] = []
    }

    private let most: Int
    private let state = NIOLockedValueBox(State())

    init(most: Int) { self.most = most }

    func connectionOpened() {
        let surplus: (any Channel)? = state.withLockedValue { state in
            state.open += 1
            return state.open >= most && !state.idle.isEmpty ? state.idle.removeFirst() : nil
        }
        surplus?.close(promise: nil)
    }

    func connectionClosed() { state.withLockedValue { $0.open -= 1 } }

    func isAcceptingNewConnections() -> Bool { state.withLockedValue { $0.open < most } }

    fileprivate func became(idle isIdle: Bool, _ channel: any Channel) {
        state.withLockedValue { state in
            state.idle.removeAll { $0 === channel }
            if isIdle { state.idle.append(channel) }
        }
    }
}

extension HTTPField.Name {
    /// In a response: how long the connection may be idle afterwards.
    static let keepAlive = Self("Keep-Alive")!
}

/// Ends a connection that sends nothing for too long.
final class IdleLimit: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// After a response with ``HTTPTypes/HTTPField/Name/keepAlive``, which follows a complete request of an authorised
    /// caller: longer than common connection pools keep a connection.
    static let longest = TimeAmount.seconds(75)
    /// In all other cases, within a request too.
    ///
    /// Limit: silence on a connection of the admin port. After a complete request of an authorised caller it is 75 s.
    private static let usual = TimeAmount.seconds(10)

    private let connections: AdminConnections
    private var limit = IdleLimit.usual
    private var lastPart = NIODeadline.now()
    private var isReading = false
    private var unanswered = 0
    private var watch: RepeatedTask?

    init(_ connections: AdminConnections) { self.connections = connections }

    func handlerAdded(context: ChannelHandlerContext) {
        lastPart = .now()
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        watch = context.eventLoop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in
            bound.value.0.look(bound.value.1)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { watch?.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        watch?.cancel()
        connections.became(idle: false, context.channel)
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lastPart = .now()
        switch unwrapInboundIn(data) {
        case .head:
            (isReading, limit) = (true, Self.usual)
            unanswered += 1
            connections.became(idle: false, context.channel)
        case .body: break
        case .end: isReading = false
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let response):
            limit = !isReading && response.headerFields[.keepAlive] != nil ? Self.longest : Self.usual
        case .body: break
        case .end:
            lastPart = .now()
            unanswered -= 1
            if unanswered == 0 { connections.became(idle: true, context.channel) }
        }
        context.write(data, promise: promise)
    }

    private func look(_ context: ChannelHandlerContext) {
        // A complete request takes the time that its answer takes.
        guard unanswered == 0 || isReading, .now() - lastPart >= limit else { return }
        context.close(promise: nil)
    }
}
