// The steps from a TCP connection to a WebSocket: TLS, and one HTTP request, which the worker answers with 101 or
// refuses.

#if NIO && !canImport(Security)
    import NIOCore
    import NIOHTTP1
    import NIOSSL
    import NIOWebSocket

    /// The handshake of one connection.
    struct WebSocketUpgrade {
        let address: WorkerAddress
        /// The path of a PEM file with the certificates to trust; `nil` for the system's.
        let certificates: String?

        /// - Returns: the handler of the WebSocket; `nil` if the server refused. The wire is then notified.
        func begin(on channel: any Channel, for wire: WebSocketWire) throws -> EventLoopFuture<WebSocketHandler.Bound?>
        {
            if address.isSecure {
                try channel.pipeline.syncOperations.addHandler(tlsHandler())
            }
            let wire = NIOLoopBound(wire, eventLoop: channel.eventLoop)
            let limit = Network.maximumMessage
            let upgrader = NIOTypedWebSocketClientUpgrader<WebSocketHandler.Bound?>(maxFrameSize: limit) { channel, _ in
                channel.eventLoop.makeCompletedFuture {
                    let handler = WebSocketHandler(wire: wire.value)
                    try channel.pipeline.syncOperations.addHandlers(
                        NIOWebSocketFrameAggregator(
                            minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: 1024, maxAccumulatedFrameSize: limit),
                        handler)
                    return NIOLoopBound(handler, eventLoop: channel.eventLoop)
                }
            }
            let configuration = NIOTypedHTTPClientUpgradeConfiguration<WebSocketHandler.Bound?>(
                upgradeRequestHead: request, upgraders: [upgrader],
                notUpgradingCompletionHandler: { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(RefusalReader(wire: wire.value))
                        return nil
                    }
                })
            return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(
                configuration: NIOUpgradableHTTPClientPipelineConfiguration(upgradeConfiguration: configuration))
        }

        private var request: HTTPRequestHead {
            HTTPRequestHead(
                version: .http1_1, method: .GET, uri: address.target, headers: ["Host": address.authority])
        }

        private func tlsHandler() throws -> NIOSSLClientHandler {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.minimumTLSVersion = .tlsv12
            if let certificates { tls.trustRoots = .file(certificates) }
            // TLS server names cannot be IP addresses (RFC 6066). The certificate is still checked against the address.
            let isIP = (try? SocketAddress(ipAddress: address.host, port: address.port)) != nil
            return try NIOSSLClientHandler(
                context: NIOSSLContext(configuration: tls), serverHostname: isIP ? nil : address.host)
        }
    }

    /// Reads a refusal and passes it to the wire.
    private final class RefusalReader: ChannelInboundHandler {
        typealias InboundIn = HTTPClientResponsePart

        private let wire: WebSocketWire

        init(wire: WebSocketWire) {
            self.wire = wire
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            if case .head(let head) = unwrapInboundIn(data) {
                let refusal = UpgradeRefused(status: Int(head.status.code)) { head.headers.first(name: $0) }
                wire.ended(.notReached(refusal))
            }
        }

        func channelInactive(context: ChannelHandlerContext) {
            wire.ended(.notReached(nil))
            context.fireChannelInactive()
        }
    }
#endif
