// A worker for tests: a real WebSocket server that speaks the protocol and does what the test says, including
// violations of the protocol.

import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket
import RollcallClient
import RollcallProtocol
import TestSupport
import Testing

/// A scripted worker on loopback.
final class ScriptedWorker: Sendable {
    /// What it does with each request. The default sends welcomes, acknowledgements and empty snapshots.
    typealias Script = @Sendable (ClientRequest, Connection) -> Void

    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let channel: any Channel
    private let state: NIOLockedValueBox<State>

    private struct State {
        var connections: [Connection] = []
        var attempts = 0
        var refusesUpgrades = false
        var redirect: String?
        var answersClose = true
    }

    var port: Int { channel.localAddress!.port! }
    var url: String { "ws://127.0.0.1:\(port)/v1/connect" }
    /// All connections so far, including closed ones.
    var connections: [Connection] { state.withLockedValue { $0.connections } }
    /// The number of handshake requests.
    var attempts: Int { state.withLockedValue { $0.attempts } }

    init(
        port: Int = 0, tls: NIOSSLContext? = nil, refusesUpgrades: Bool = false,
        script: @escaping Script = { $1.behave($0) }
    ) async throws {
        let state = NIOLockedValueBox(State(refusesUpgrades: refusesUpgrades))
        self.state = state
        let upgrader = NIOWebSocketServerUpgrader(
            shouldUpgrade: { channel, head in
                let isRefused = state.withLockedValue {
                    $0.attempts += 1
                    return $0.refusesUpgrades || $0.redirect != nil || head.uri != "/v1/connect"
                }
                return channel.eventLoop.makeSucceededFuture(isRefused ? nil : HTTPHeaders())
            },
            upgradePipelineHandler: { channel, _ in
                let answersClose = state.withLockedValue { $0.answersClose }
                let connection = Connection(channel: channel, answersClose: answersClose, script: script)
                state.withLockedValue { $0.connections.append(connection) }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(FrameHandler(connection: connection))
                }
            })
        channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
                    try pipeline.configureHTTPServerPipeline(
                        withServerUpgrade: (
                            upgraders: [upgrader],
                            completionHandler: { context in
                                let pipeline = context.pipeline.syncOperations
                                if let refuser = try? pipeline.handler(type: Refuser.self) {
                                    pipeline.removeHandler(refuser, promise: nil)
                                }
                            }
                        ))
                    try pipeline.addHandler(Refuser(to: state.withLockedValue { $0.redirect }))
                }
            }
            .bind(host: "127.0.0.1", port: port).get()
    }

    deinit {
        let group = self.group
        channel.close(promise: nil)
        for connection in connections { connection.drop() }
        group.shutdownGracefully { _ in }
    }

    func refuseUpgrades(_ refuses: Bool) {
        state.withLockedValue { $0.refusesUpgrades = refuses }
    }

    func redirect(to url: String) {
        state.withLockedValue { $0.redirect = url }
    }

    /// Whether a client's close frame is answered, and the connection closed.
    var answersClose: Bool {
        get { state.withLockedValue { $0.answersClose } }
        set { state.withLockedValue { $0.answersClose = newValue } }
    }

    /// Stops listening and drops every connection, like a killed worker.
    func kill() async throws {
        try await channel.close()
        for connection in connections { connection.drop() }
    }

    /// Returns the connection with this number, once it has sent hello.
    func connection(_ number: Int = 0) async throws -> Connection {
        try await eventually("connection \(number) says hello") {
            connections.count > number && !connections[number].received.isEmpty
        }
        return connections[number]
    }

    /// One client's connection.
    final class Connection: WorkerSide {
        private let channel: any Channel
        private let answersClose: Bool
        private let script: Script
        private let log = NIOLockedValueBox(Log())

        private struct Log {
            var requests: [ClientRequest] = []
            var others: [[UInt8]] = []
            var closed: CloseCode?
        }

        fileprivate init(channel: any Channel, answersClose: Bool, script: @escaping Script) {
            self.channel = channel
            self.answersClose = answersClose
            self.script = script
        }

        /// The client's messages, in order.
        var received: [ClientRequest] { log.withLockedValue { $0.requests } }
        /// Answers to pings, and other frames without text.
        var otherFrames: [[UInt8]] { log.withLockedValue { $0.others } }
        /// The code of the client's close frame.
        var closeCode: CloseCode? { log.withLockedValue { $0.closed } }
        var isOpen: Bool { channel.isActive }
        let time = Timestamp(milliseconds: 1_753_600_000_000)

        func send(_ message: ServerMessage) {
            send(text: String(decoding: MessageCodec().json(of: message), as: UTF8.self))
        }

        func send(text: String) {
            write(WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(string: text)))
        }

        func send(opcode: WebSocketOpcode, fin: Bool = true, _ bytes: [UInt8]) {
            write(WebSocketFrame(fin: fin, opcode: opcode, data: ByteBuffer(bytes: bytes)))
        }

        func close(_ code: CloseCode) {
            write(
                WebSocketFrame(fin: true, opcode: .connectionClose, data: ByteBuffer(integer: code.rawValue)))
        }

        /// Sends `count` pings at even intervals.
        func ping(_ count: Int, every pause: Duration) {
            for number in 0..<count {
                channel.eventLoop.scheduleTask(in: TimeAmount(pause * number)) { self.send(opcode: .ping, []) }
            }
        }

        /// Closes the connection without a close frame.
        func drop() {
            channel.close(promise: nil)
        }

        fileprivate func received(_ text: ByteBuffer) {
            do {
                let request = try MessageCodec().request(from: Data(text.readableBytesView))
                // Whoever sees the request here sends behind the answer to it.
                script(request, self)
                log.withLockedValue { $0.requests.append(request) }
            } catch {
                Issue.record("the client sent \(String(buffer: text)): \(error)")
            }
        }

        fileprivate func received(other bytes: [UInt8]) {
            log.withLockedValue { $0.others.append(bytes) }
        }

        fileprivate func closed(_ code: CloseCode) {
            log.withLockedValue { $0.closed = code }
            if answersClose { channel.close(promise: nil) }
        }

        private func write(_ frame: WebSocketFrame) {
            channel.writeAndFlush(frame, promise: nil)
        }
    }

    /// Answers a handshake without upgrading.
    private final class Refuser: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart
        private let redirect: String?

        init(to redirect: String?) {
            self.redirect = redirect
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .end = unwrapInboundIn(data) else { return }
            var head = HTTPResponseHead(
                version: .http1_1, status: redirect == nil ? .serviceUnavailable : .found,
                headers: ["Content-Length": "0"])
            if let redirect { head.headers.add(name: "Location", value: redirect) }
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }

    private final class FrameHandler: ChannelInboundHandler {
        typealias InboundIn = WebSocketFrame
        typealias OutboundOut = WebSocketFrame
        private let connection: Connection

        init(connection: Connection) {
            self.connection = connection
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let frame = unwrapInboundIn(data)
            #expect(frame.maskKey != nil, "a client masks its frames")
            switch frame.opcode {
            case .text:
                connection.received(frame.unmaskedData)
            case .connectionClose:
                var data = frame.unmaskedData
                connection.closed(CloseCode(rawValue: data.readInteger() ?? 1005))
            default:
                connection.received(other: Array(frame.unmaskedData.readableBytesView))
            }
        }
    }
}
