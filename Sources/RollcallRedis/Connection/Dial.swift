// One attempt to open a channel: over TCP or a Unix socket, in plain text or with TLS. One timeout covers all of it,
// and it can be cancelled at any time.

import NIOCore
import NIOPosix

/// An attempt to open a channel. Bound to its event loop.
final class Dial {
    private let destination: Destination
    private let timeout: TimeAmount
    private let eventLoop: any EventLoop
    private let handler: () -> LinkHandler
    /// The channels being tried. For a host with several addresses, there may be several at once.
    private var channels: [any Channel] = []
    private var isGivenUp = false

    /// - Parameters:
    ///   - timeout: covers name resolution, connecting and the TLS handshake together.
    ///   - handler: creates the handler of each channel that is tried. It is notified when its channel is open.
    init(
        to destination: Destination, within timeout: TimeAmount, on eventLoop: any EventLoop,
        handler: @escaping () -> LinkHandler
    ) {
        precondition(destination.location.isEncrypted == (destination.tls != nil), "what is to be encrypted is")
        (self.destination, self.timeout, self.eventLoop) = (destination, timeout, eventLoop)
        self.handler = handler
    }

    /// - Returns: a future that fails if no channel was opened, or if the attempt was cancelled.
    func begin() -> EventLoopFuture<Void> {
        let deadline = NIODeadline.now() + timeout
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let bootstrap = ClientBootstrap(group: eventLoop).connectTimeout(timeout)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try bound.value.equip(channel, deadline) }
            }
        let attempt =
            switch destination.location.address {
            case .host(let host, let port): bootstrap.connect(host: host, port: port)
            case .unix(let path): bootstrap.connect(unixDomainSocketPath: path)
            }
        return destination.tls == nil ? attempt.map { _ in } : attempt.flatMap(Self.secured)
    }

    /// Cancels the attempt and closes its channels. No handler is notified of an open channel afterwards.
    func giveUp() {
        isGivenUp = true
        for channel in channels { channel.close(promise: nil) }
        channels = []
    }

    private func equip(_ channel: any Channel, _ deadline: NIODeadline) throws {
        // Name resolution may finish only after the attempt was cancelled.
        guard !isGivenUp else { throw CancellationError() }
        channels.append(channel)
        let pipeline = channel.pipeline.syncOperations
        if let tls = destination.tls {
            guard case .host(let host, _) = destination.location.address else {
                preconditionFailure("a Unix socket has no TLS")
            }
            try pipeline.addHandlers([try tls.handler(for: host), TLSGate(deadline: deadline)])
        }
        try pipeline.addHandler(handler())
    }

    @Sendable private static func secured(_ channel: any Channel) -> EventLoopFuture<Void> {
        // If the gate has left the pipeline, it has failed.
        let gate = try? channel.pipeline.syncOperations.handler(type: TLSGate.self)
        return gate?.opened ?? channel.eventLoop.makeFailedFuture(TLSFailure(.silence))
    }
}
