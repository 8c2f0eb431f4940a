// The handshake of a connection: one HTTP request, which becomes a WebSocket or receives an error response. Afterwards
// no HTTP handler is left in the pipeline.

import Logging
import NIOCore
import NIOHTTP1
import RollcallCore
import RollcallProtocol

/// Reads one request and converts the channel to an ``EdgeConnection``, or responds and closes.
final class HandshakeHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = ByteBuffer

    private enum State {
        case waiting
        /// The request head is valid; the end of the request is missing.
        case accepted(String)
        /// A response was sent; nothing more is read.
        case over
    }

    private let loop: EdgeLoop
    private let decoder: ByteToMessageHandler<HTTPRequestDecoder>
    private var state = State.waiting
    private var context: ChannelHandlerContext?
    /// The client's address, as far as known.
    private var client: String?
    /// The same as a limit key. Before the request arrives, only the peer's address is known.
    private(set) var address: ClientAddress

    private init(on loop: EdgeLoop, from address: ClientAddress) {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = EdgeSettings.headerBytes
        limits.maxHeaderListSize = EdgeSettings.headerBytes
        limits.maxHeaderFieldCount = EdgeSettings.headerFields
        let requests = HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes, limitConfiguration: limits)
        decoder = ByteToMessageHandler(requests, maximumBufferSize: EdgeSettings.headerBytes)
        self.loop = loop
        self.address = address
    }

    /// Adds a handshake to a new channel's pipeline. Call it on the loop.
    static func begin(on channel: any Channel, of loop: EdgeLoop) throws -> HandshakeHandler {
        let handler = HandshakeHandler(on: loop, from: ClientAddress(of: channel.remoteAddress))
        try channel.pipeline.syncOperations.addHandlers([handler.decoder, handler])
        return handler
    }

    /// Whether the channel is a WebSocket now, or closed.
    private(set) var isOver = false

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        isOver = true
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (state, unwrapInboundIn(data)) {
        case (.waiting, .head(let request)):
            client = loop.proxies.client(of: context.remoteAddress, request.headers)
            if let client, client != context.remoteAddress?.ipAddress { address = ClientAddress(named: client) }
            if Handshake.isHealthCheck(request) {
                return respond(loop.isServing() ? .serving : .notServing, to: request, context)
            }
            do throws(Refusal) {
                state = .accepted(try loop.handshake.accept(request))
            } catch {
                // A page asks without a WebSocket whether one would open.
                let isAsked = error == .probe || error == .notWebSocket
                if isAsked, let noRoom { return refuse(noRoom, to: request) }
                if error == .probe { return respond(error, to: request, context) }
                refuse(error, to: request)
            }
        case (.accepted, .body):
            refuse(.body)
        case (.accepted(let answer), .end):
            upgrade(answer, context: context)
        case (.waiting, .body), (.waiting, .end), (.accepted, .head), (.over, _):
            break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if case .over = state { return }
        // The peer disconnected, perhaps within its request, which the parser reports as an invalid request.
        guard context.channel.isActive else {
            state = .over
            return
        }
        switch error {
        case HTTPParserError.headerOverflow, is ByteToMessageDecoderError.PayloadTooLargeError:
            refuse(.tooLong)
        case HTTPParserError.invalidMethod:
            loop.metNoHTTP()
            refuse(.bad("This is not HTTP/1.1. The PROXY protocol is not spoken here."))
        case is HTTPParserError:
            refuse(.bad("This is not HTTP/1.1."))
        default:
            loop.logger.debug("connection failed before its handshake", metadata: ["reason": "\(error)"])
            context.closeSocket()
        }
    }

    /// Gives up on a peer that is too slow, or the slowest of too many: with its request, or with closing after a
    /// response.
    func giveUp(_ reason: RefusalReason) {
        switch state {
        case .waiting, .accepted: loop.tally.refused.count(reason)
        case .over: break
        }
        abort()
    }

    /// Ends the connection. The parser's error for the incomplete request is not counted.
    func abort() {
        state = .over
        context?.closeSocket()
    }
}

extension HandshakeHandler {
    /// Responds and ends the stream, but reads until the peer ends its own. If the socket were closed with unread
    /// bytes, the kernel would reset the connection and the response could be lost.
    private func refuse(_ refusal: Refusal, to request: HTTPRequestHead? = nil) {
        if case .over = state { return }
        guard let context else { return }
        loop.tally.refused.count(RefusalReason(refusal.status))
        // What a proxy has made of these two explains most refused origins.
        let names = refusal.limit == .origins ? ["origin", "host"] : []
        refusal.limit.map { limit in
            loop.limitHit(
                limit,
                names.map { name in
                    let text = ByteString(request?.headers.first(name: name) ?? "none")
                    return (name, ByteString(decoding: text.utf8.prefix(200)).string)
                })
        }
        loop.logger.debug(
            "handshake refused", metadata: ["status": "\(refusal.status.code)", "client": "\(client ?? "?")"])
        respond(refusal, to: request, context)
    }

    private func respond(_ answer: Refusal, to request: HTTPRequestHead?, _ context: ChannelHandlerContext) {
        state = .over
        context.writeAndFlush(wrapOutboundOut(answer.response(to: request?.method ?? .GET)), promise: nil)
        context.close(mode: .output, promise: nil)
    }

    /// Why no further WebSocket of this client has room; `nil` if it has.
    private var noRoom: Refusal? {
        if !loop.sessions.hasRoom { return .full }
        return loop.addresses?.hasRoom(address) == false ? .crowdedAddress : nil
    }

    /// Removes HTTP from the pipeline. Frames that arrived with the request are still in the decoder, which forwards
    /// them when it is removed, in a later tick. So the WebSocket's handler must be behind it by then.
    private func upgrade(_ answer: String, context: ChannelHandlerContext) {
        guard loop.sessions.hasRoom else { return refuse(.full) }
        if loop.addresses?.take(address) == false { return refuse(.crowdedAddress) }
        state = .over
        let connection = EdgeConnection(on: loop, from: address)
        let pipeline = context.pipeline.syncOperations
        do {
            try pipeline.addHandler(connection)
        } catch {
            // The channel closed in this tick.
            loop.addresses?.release(address)
            return
        }
        loop.logger.debug("connected", metadata: ["client": "\(client ?? "?")"])
        context.writeAndFlush(wrapOutboundOut(Handshake.response(answer)), promise: nil)
        pipeline.removeHandler(context: context, promise: nil)
        pipeline.removeHandler(decoder, promise: nil)
        loop.tally.accepted += 1
        connection.begin()
    }
}
