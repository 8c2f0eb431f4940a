// A wire over a real WebSocket: TCP, TLS where the URL asks for it, the HTTP upgrade, then one handler for frames.

import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket

/// One WebSocket to one worker.
final class WebSocketWire: Wire {
    /// The largest message that is read; a snapshot of a thousand users has about 200 KB.
    static let maximumMessage = 4 << 20
    /// How long an orderly end may take before it becomes a hard one.
    private static let closeTime = TimeAmount.seconds(2)

    let mayDieSilently = true
    private let loop: any EventLoop
    private let codec = MessageCodec()
    private weak var owner: (any WireOwner)?
    private var channel: (any Channel)?
    private var handler: WebSocketHandler?
    /// Whether the owner has heard, or wants to hear, nothing more.
    private var isOver = false

    init(on loop: any EventLoop, owner: any WireOwner) {
        self.loop = loop
        self.owner = owner
    }

    /// Begins to connect, in the next tick of the loop.
    ///
    /// - Parameter certificates: a PEM file of what to trust for `wss://`; `nil`: what the system trusts.
    func connect(to address: WorkerAddress, trusting certificates: String?) {
        let wire = NIOLoopBound(self, eventLoop: loop)
        loop.execute {
            ClientBootstrap(group: wire.eventLoop)
                .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                .connect(host: address.host, port: address.port)
                // Only now that the race between the host's addresses is decided is the winner given its handlers.
                .flatMapThrowing { try wire.value.upgrade($0, to: address, trusting: certificates) }
                .flatMap { $0 }
                .assumeIsolated()
                .whenComplete { wire.value.upgraded($0) }
        }
    }

    func send(_ request: ClientRequest) {
        handler?.send(codec.json(of: request))
    }

    func flush() {
        handler?.flush()
    }

    func close(_ done: @escaping () -> Void) {
        isOver = true
        guard let channel, let handler else {
            abort()
            return done()
        }
        handler.closeOrderly()
        let hard = loop.scheduleTask(in: Self.closeTime) { channel.close(promise: nil) }
        channel.closeFuture.assumeIsolated().whenComplete { _ in
            hard.cancel()
            done()
        }
    }

    func abort() {
        isOver = true
        channel?.close(promise: nil)
    }
}

extension WebSocketWire {
    private func upgrade(
        _ channel: any Channel, to address: WorkerAddress, trusting certificates: String?
    ) throws -> EventLoopFuture<WebSocketHandler.Bound?> {
        self.channel = channel
        if isOver {
            channel.close(promise: nil)
            throw ChannelError.alreadyClosed
        }
        return try WebSocketUpgrade(address: address, certificates: certificates).begin(on: channel, for: self)
    }

    private func upgraded(_ result: Result<WebSocketHandler.Bound?, any Error>) {
        guard !isOver else { return abort() }
        switch result {
        case .success(let handler?):
            self.handler = handler.value
            owner?.wireOpened(self)
        case .success(nil):
            break  // The handler that reads why tells of it.
        case .failure(let error):
            ended(.notReached(error))
        }
    }

    func heard() {
        if !isOver { owner?.wireHeard(self) }
    }

    /// What cannot be read is a newer worker's word, or garbage; neither is ours to stumble over.
    func received(_ json: ByteBuffer) {
        guard !isOver, let message = try? json.withUnsafeReadableBytes({ try codec.message(from: $0) }) else { return }
        owner?.wireReceived(self, message)
    }

    func ended(_ ending: Ending) {
        guard !isOver else { return }
        abort()
        owner?.wireEnded(self, how: ending)
    }
}
