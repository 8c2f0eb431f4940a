// A wire over a WebSocket: TCP, TLS if the URL requires it, the HTTP upgrade, then one handler for frames.

#if NIO && !canImport(Security)
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    import NIOSSL
    import NIOWebSocket

    /// One WebSocket to one worker.
    final class WebSocketWire: Wire {
        /// How long an orderly close may take before the connection is dropped.
        private static let closeTime = TimeAmount.seconds(2)

        let mayDieSilently = true
        private let loop: any EventLoop
        private let codec = MessageCodec()
        private weak var owner: (any WireOwner)?
        private var channel: (any Channel)?
        private var handler: WebSocketHandler?
        /// Whether the owner gets no further events.
        private var isOver = false

        init(on loop: any EventLoop, owner: any WireOwner) {
            self.loop = loop
            self.owner = owner
        }

        /// Starts to connect, in the next tick of the loop.
        ///
        /// - Parameter certificates: the path of a PEM file with the certificates to trust; `nil` for the system's.
        func connect(to address: WorkerAddress, trusting certificates: String?) {
            let wire = NIOLoopBound(self, eventLoop: loop)
            loop.execute {
                ClientBootstrap(group: wire.eventLoop)
                    .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                    .connect(host: address.host, port: address.port)
                    // Handlers are added only here, when the race between the host's addresses is decided.
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
                break  // `RefusalReader` reports the reason.
            case .failure(let error):
                ended(.notReached(error))
            }
        }

        func heard() {
            if !isOver { owner?.wireHeard(self) }
        }

        /// Handles a message. What cannot be read is ignored: it may come from a newer worker.
        func received(_ json: ByteBuffer) {
            guard !isOver, let message = try? json.withUnsafeReadableBytes({ try codec.message(from: $0) }) else {
                return
            }
            owner?.wireReceived(self, message)
        }

        func ended(_ ending: Ending) {
            guard !isOver else { return }
            abort()
            owner?.wireEnded(self, how: ending)
        }
    }
#endif
