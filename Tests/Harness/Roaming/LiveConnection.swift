// A WebSocket session on an event loop, for thousands of devices and measurements to the millisecond: each message is
// reported when it arrives.

internal import Foundation
internal import NIOCore
internal import NIOPosix
internal import RollcallProtocol

/// The connection of one session. Used on its event loop only.
final class LiveConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// How a device abandons its connection.
    enum Loss {
        case fin
        case reset
        /// The connection stays open, but the device neither reads nor answers pings.
        case silence
    }

    private let codec = MessageCodec()
    /// The time limit for connecting and for the WebSocket upgrade.
    private static let patience = TimeAmount.seconds(3)
    private var channel: (any Channel)?
    private var reader = FrameReader()
    private var isUpgraded = false
    private var isSilent = false
    private var hasEnded = false
    private let opened: () -> Void
    private let received: (ServerMessage) -> Void
    private let ended: (CloseCode?) -> Void

    /// - Parameters:
    ///   - opened: called when messages can be sent.
    ///   - ended: called once with the worker's close code, if it sent one; never after ``lose(_:)``.
    init(
        opened: @escaping () -> Void, received: @escaping (ServerMessage) -> Void,
        ended: @escaping (CloseCode?) -> Void
    ) {
        (self.opened, self.received, self.ended) = (opened, received, ended)
    }

    func connect(to port: Int, on loop: any EventLoop) {
        let bound = NIOLoopBound(self, eventLoop: loop)
        guard let address = try? SocketAddress(ipAddress: "127.0.0.1", port: port) else { return end(nil) }
        ClientBootstrap(group: loop)
            .connectTimeout(Self.patience)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(bound.value)
                }
            }
            .connect(to: address)
            .whenFailure { _ in bound.value.end(nil) }
    }

    func send(_ request: ClientRequest) {
        write(ClientFrames.frame(ClientFrames.Opcode.text, Array(codec.json(of: request))))
    }

    /// Abandons the connection without a `goodbye` or close frame.
    func lose(_ how: Loss) {
        hasEnded = true
        switch how {
        case .silence:
            isSilent = true
            _ = channel?.setOption(.autoRead, value: false)
        case .reset:
            _ = (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
            channel?.close(promise: nil)
        case .fin:
            channel?.close(promise: nil)
        }
    }

    // MARK: Channel events

    func channelActive(context: ChannelHandlerContext) {
        channel = context.channel
        guard !hasEnded else { return context.close(promise: nil) }
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) { [weak self] in
            if let self, !isUpgraded { channel?.close(promise: nil) }
        }
        write(ClientFrames.upgradeRequest)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isSilent, !hasEnded else { return }
        reader.append(unwrapInboundIn(data).readableBytesView)
        do {
            if !isUpgraded {
                guard try reader.tookUpgrade() else { return }
                isUpgraded = true
                opened()
            }
            while let (opcode, payload) = reader.next() { try took(opcode, payload) }
        } catch {
            context.close(promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func took(_ opcode: UInt8, _ payload: [UInt8]) throws {
        switch opcode {
        case ClientFrames.Opcode.text: received(try codec.message(from: Data(payload)))
        case ClientFrames.Opcode.ping: write(ClientFrames.frame(ClientFrames.Opcode.pong, payload))
        case ClientFrames.Opcode.close:
            end(ClientFrames.closeCode(of: payload).map { CloseCode(rawValue: UInt16($0)) })
            channel?.close(promise: nil)
        default: break
        }
    }

    private func end(_ code: CloseCode?) {
        guard !hasEnded else { return }
        hasEnded = true
        ended(code)
    }

    private func write(_ bytes: [UInt8]) {
        guard !isSilent else { return }
        channel?.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
    }
}
