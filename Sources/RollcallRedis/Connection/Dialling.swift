// One attempt to open a channel: over TCP or a Unix socket, in the clear or under TLS.

import NIOCore
import NIOPosix

extension Destination {
    /// Tries to open a channel there.
    ///
    /// - Parameter handler: made for each channel that is tried, of which a host with several addresses may have more
    ///   than one at once; told when its channel is open.
    /// - Returns: fails if none came to stand.
    func dial(
        on eventLoop: any EventLoop, timeout: TimeAmount, handler: @escaping @Sendable () -> LinkHandler
    ) -> EventLoopFuture<Void> {
        precondition(location.isEncrypted == (tls != nil), "what is to be encrypted is")
        let bootstrap = ClientBootstrap(group: eventLoop).connectTimeout(timeout)
            .channelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls { try secure(channel, tls, timeout) }
                    try channel.pipeline.syncOperations.addHandler(handler())
                }
            }
        let attempt =
            switch location.address {
            case .host(let host, let port): bootstrap.connect(host: host, port: port)
            case .unix(let path): bootstrap.connect(unixDomainSocketPath: path)
            }
        return tls == nil ? attempt.map { _ in } : attempt.flatMap(Self.secured)
    }

    private func secure(_ channel: any Channel, _ tls: TLSClient, _ timeout: TimeAmount) throws {
        guard case .host(let host, _) = location.address else { preconditionFailure("a Unix socket has no TLS") }
        try channel.pipeline.syncOperations.addHandlers([try tls.handler(for: host), TLSGate(timeout: timeout)])
    }

    @Sendable private static func secured(_ channel: any Channel) -> EventLoopFuture<Void> {
        // A gate that is gone has failed.
        let gate = try? channel.pipeline.syncOperations.handler(type: TLSGate.self)
        return gate?.opened ?? channel.eventLoop.makeFailedFuture(TLSFailure(.silence))
    }
}
