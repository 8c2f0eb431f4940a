// The two networks of a client, for tests of what both must do: NIO's, and Apple's, whose socket is played here by one that
// reports what Apple's reports, in the most awkward order that it may.

import Dispatch
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

@testable import RollcallClient

enum TestNetwork: CaseIterable {
    case nio, apple

    var network: Network {
        switch self {
        case .nio: return .standard(trusting: nil)
        case .apple:
            let queue = DispatchQueue(label: "test")
            let environment = Environment.on(queue)
            return Network(
                environment: environment,
                dial: .success { address, owner in
                    PlatformWire(in: environment, owner: owner) { hear in
                        let socket = AppleLikeSocket(queue, hear)
                        socket.connect(to: address)
                        return socket
                    }
                })
        }
    }
}

private final class AppleLikeSocket: PlatformSocket, @unchecked Sendable {
    private let queue: DispatchQueue
    private var hear: ((SocketEvent) -> Void)?
    private let loop = MultiThreadedEventLoopGroup.singleton.next()
    private var channel: (any Channel)?

    init(_ queue: DispatchQueue, _ hear: @escaping (SocketEvent) -> Void) {
        (self.queue, self.hear) = (queue, hear)
    }

    func connect(to address: WorkerAddress) {
        ClientBootstrap(group: loop).connect(host: address.host, port: address.port)
            .flatMap { [self] channel in upgrade(channel, to: address) }
            .whenFailure { [self] in report(.ended($0, answer: nil)) }
    }

    func send(_ json: [UInt8]) {
        write(.text, ByteBuffer(bytes: json)) { [self] in report(.sent) }
    }

    func close(_ code: UInt16) { write(.connectionClose, ByteBuffer(integer: code)) {} }

    func abort() {
        hear = nil
        channel?.close(promise: nil)
    }

    fileprivate func report(_ events: SocketEvent...) {
        queue.async { [self] in for event in events { hear?(event) } }
    }

    fileprivate func write(_ opcode: WebSocketOpcode, _ data: ByteBuffer, _ done: @escaping @Sendable () -> Void) {
        guard let channel else { return done() }
        let frame = WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data)
        channel.writeAndFlush(frame).whenComplete { _ in done() }
    }

    private func upgrade(_ channel: any Channel, to address: WorkerAddress) -> EventLoopFuture<Void> {
        let limit = Network.maximumMessage
        let upgrader = NIOTypedWebSocketClientUpgrader<Void>(maxFrameSize: limit) { channel, _ in
            self.queue.async { self.channel = channel }
            self.report(.opened)
            let frames = NIOWebSocketFrameAggregator(
                minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: 1024, maxAccumulatedFrameSize: limit)
            return channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandlers(frames, Frames(of: self))
            }
        }
        let head = HTTPRequestHead(
            version: .http1_1, method: .GET, uri: address.target, headers: ["Host": address.authority])
        let configuration = NIOTypedHTTPClientUpgradeConfiguration<Void>(
            upgradeRequestHead: head, upgraders: [upgrader],
            notUpgradingCompletionHandler: { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Refusal(of: self))
                }
            })
        return channel.eventLoop.submit {
            try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(
                configuration: NIOUpgradableHTTPClientPipelineConfiguration(upgradeConfiguration: configuration))
        }.flatMap { $0 }
    }

    private struct NotConnected: Error {}

    private final class Frames: ChannelInboundHandler {
        typealias InboundIn = WebSocketFrame
        private let socket: AppleLikeSocket

        init(of socket: AppleLikeSocket) { self.socket = socket }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let frame = unwrapInboundIn(data)
            var bytes = frame.unmaskedData
            switch frame.opcode {
            case .text: socket.report(.received(Array(bytes.readableBytesView)))
            case .binary: socket.report(.received(nil))
            case .ping: socket.queue.async { [socket, bytes] in socket.write(.pong, bytes) {} }
            case .connectionClose:
                let code = bytes.readInteger(as: UInt16.self) ?? 1005
                socket.report(
                    .interrupted(NotConnected()), .closed(code, because: Array(bytes.readableBytesView)),
                    .ended(nil, answer: UpgradeRefused(status: 101)), .interrupted(NotConnected()))
                context.close(promise: nil)
            default: if frame.opcode != .pong { errorCaught(context: context, error: NotConnected()) }
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        func channelInactive(context: ChannelHandlerContext) {
            socket.report(.interrupted(NotConnected()), .ended(NotConnected(), answer: UpgradeRefused(status: 101)))
        }
    }

    private final class Refusal: ChannelInboundHandler {
        typealias InboundIn = HTTPClientResponsePart
        private let socket: AppleLikeSocket

        init(of socket: AppleLikeSocket) { self.socket = socket }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .head(let head) = unwrapInboundIn(data) else { return }
            let answer = UpgradeRefused(status: Int(head.status.code)) { head.headers.first(name: $0) }
            socket.report(.ended(NotConnected(), answer: answer))
            context.close(promise: nil)
        }
    }
}
