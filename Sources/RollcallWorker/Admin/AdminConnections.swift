// How many connections the admin port has, and how long each may be idle.

import HTTPTypes
import HummingbirdCore
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTPTypes
import RollcallProtocol
import RollcallServer

/// The open connections. Where all places are taken, the connection that has been idle longest gives way, since a connection pool
/// keeps far more of them than it uses. Where none is idle, there are a few more places, for what probes ask.
final class AdminConnections: AvailableConnectionsDelegate {
    private struct State {
        var open = 0
        var isStopped = false
        var placed: Set<ObjectIdentifier> = []
        /// Those between two requests, or silent from the beginning, the longest idle first.
        var idle: [any Channel] = []

        mutating func leave(_ channel: any Channel) {
            placed.remove(ObjectIdentifier(channel))
            idle.removeAll { $0 === channel }
        }
    }

    private let most: Int
    private let spare: Int
    private let refusals: AdminRefusals
    private let state = NIOLockedValueBox(State())

    init(most: Int, spare: Int, refusals: AdminRefusals) {
        (self.most, self.spare, self.refusals) = (most, spare, refusals)
    }

    func connectionOpened() { state.withLockedValue { $0.open += 1 } }

    func connectionClosed() { state.withLockedValue { $0.open -= 1 } }

    func isAcceptingNewConnections() -> Bool { state.withLockedValue { !$0.isStopped && $0.open < most + spare } }

    /// Accepts none any more: one that comes while the port stops may be served by nobody, and delays the stop.
    func stop() { state.withLockedValue { $0.isStopped = true } }

    /// - Returns: Whether the connection has a place; otherwise it is one of the few for probes.
    fileprivate func admit(_ channel: any Channel) -> Bool {
        let (isPlaced, surplus): (Bool, (any Channel)?) = state.withLockedValue { state in
            let surplus = state.placed.count < most ? nil : state.idle.first
            if let surplus { state.leave(surplus) }
            guard state.placed.count < most else { return (false, nil) }
            state.placed.insert(ObjectIdentifier(channel))
            return (true, surplus)
        }
        surplus?.close(promise: nil)
        return isPlaced
    }

    fileprivate func became(idle isIdle: Bool, _ channel: any Channel) {
        let isSurplus = state.withLockedValue { state in
            state.idle.removeAll { $0 === channel }
            guard isIdle, state.placed.contains(ObjectIdentifier(channel)) else { return false }
            // Nothing is accepted until one ends.
            if state.open >= most + spare {
                state.leave(channel)
                return true
            }
            state.idle.append(channel)
            return false
        }
        if isSurplus { channel.close(promise: nil) }
    }

    fileprivate func left(_ channel: any Channel) { state.withLockedValue { $0.leave(channel) } }

    fileprivate func refused(_ channel: any Channel) {
        refusals.occurred(.unavailable, from: channel.remoteAddress?.ipAddress ?? "unknown")
    }
}

extension HTTPField.Name {
    /// In a response: how long the connection may be idle afterwards.
    static let keepAlive = Self("Keep-Alive")!
}

/// Ends a connection that sends nothing for too long, or that has no place and asks for more than probes do.
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
    /// From the beginning of a connection without a place to its end.
    private static let spare = TimeAmount.seconds(5)
    /// How long the rest of a refused request may take.
    private static let rest = TimeAmount.milliseconds(20)
    /// After which a new connection counts as idle.
    private static let silence = TimeAmount.seconds(1)
    private static let probed: [ByteString] = ["/health", "/ready", "/metrics"]

    private let connections: AdminConnections
    private var limit = IdleLimit.usual
    private var lastPart = NIODeadline.now()
    private var isPlaced = true
    private var isUnused = true
    /// Whether what comes is not read: its request was refused.
    private var isRefused = false
    /// Whether the last request waits for events.
    private var isFollowing = false
    private var isReading = false
    private var unanswered = 0
    private var watch: RepeatedTask?

    init(_ connections: AdminConnections) { self.connections = connections }

    func handlerAdded(context: ChannelHandlerContext) {
        lastPart = .now()
        isPlaced = connections.admit(context.channel)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        if !isPlaced { context.eventLoop.scheduleTask(in: Self.spare) { bound.value.1.close(promise: nil) } }
        watch = context.eventLoop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in
            bound.value.0.look(bound.value.1)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { watch?.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        watch?.cancel()
        connections.left(context.channel)
        context.fireChannelInactive()
    }

    /// A reader of events that will send nothing more has hung up: most do not close their connections, but end their side.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event, isFollowing { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isRefused {
            if case .end = unwrapInboundIn(data) { context.close(promise: nil) }
            return
        }
        lastPart = .now()
        switch unwrapInboundIn(data) {
        case .head(let request):
            (isReading, isUnused, limit) = (true, false, Self.usual)
            unanswered += 1
            connections.became(idle: false, context.channel)
            let asked = ByteString(request.path ?? "")
            let path = asked.cut(at: "?")?.before ?? asked
            guard isPlaced || Self.probed.contains(path) else { return refuse(context) }
            isFollowing = path == "/v1/events"
            if request.headerFields[.expect].map({ ByteString($0).isWord("100-continue") }) == true {
                context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
            }
        case .body: break
        case .end: isReading = false
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var response):
            limit = !isReading && response.headerFields[.keepAlive] != nil ? Self.longest : Self.usual
            if !isPlaced {
                response.headerFields[.connection] = "close"
                return context.write(wrapOutboundOut(.head(response)), promise: promise)
            }
        case .body: break
        case .end:
            lastPart = .now()
            unanswered -= 1
            if !isPlaced {
                context.writeAndFlush(data, promise: promise)
                return context.close(promise: nil)
            }
            // Only once it is sent: an idle connection may be closed at once.
            let sent = promise ?? context.eventLoop.makePromise(of: Void.self)
            let bound = NIOLoopBound((self, context.channel), eventLoop: context.eventLoop)
            sent.futureResult.whenComplete { _ in
                let (limit, channel) = bound.value
                if limit.unanswered == 0 { limit.connections.became(idle: true, channel) }
            }
            return context.write(data, promise: sent)
        }
        context.write(data, promise: promise)
    }

    private func refuse(_ context: ChannelHandlerContext) {
        isRefused = true
        connections.refused(context.channel)
        let problem = AdminProblem.unavailable(
            "all connections of this port are in use: \(OpenFileLimit.adminConnections()) at once",
            retryAfter: .seconds(1))
        var (head, body) = problem.parts
        head.headerFields[.connection] = "close"
        head.headerFields[.contentLength] = "\(body.readableBytes)"
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(body)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        // Closing before the rest of the request is there would reset the connection, and take the answer away.
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: Self.rest) { bound.value.close(promise: nil) }
    }

    private func look(_ context: ChannelHandlerContext) {
        if isUnused, isPlaced, .now() - lastPart >= Self.silence {
            isUnused = false
            connections.became(idle: true, context.channel)
        }
        // A complete request takes the time that its answer takes.
        guard unanswered == 0 || isReading, .now() - lastPart >= limit else { return }
        context.close(promise: nil)
    }
}
