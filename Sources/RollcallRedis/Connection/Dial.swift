// One attempt to open a channel: over TCP or a Unix socket, in the clear or under TLS. All of it has one time, and it may be
// given up at any moment.

import NIOCore
import NIOPosix

/// An attempt to open a channel. Bound to its event loop.
final class Dial {
    private let destination: Destination
    private let timeout: TimeAmount
    private let eventLoop: any EventLoop
    private let handler: () -> LinkHandler
    /// Those that are tried, of which a host with several addresses may have more than one at once.
    private var channels: [any Channel] = []
    private var isGivenUp = false

    /// - Parameters:
    ///   - timeout: for finding the host, connecting and TLS together.
    ///   - handler: made for each channel that is tried; told when its channel is open.
    init(
        to destination: Destination, within timeout: TimeAmount, on eventLoop: any EventLoop,
        handler: @escaping () -> LinkHandler
    ) {
        precondition(destination.location.isEncrypted == (destination.tls != nil), "what is to be encrypted is")
        (self.destination, self.timeout, self.eventLoop) = (destination, timeout, eventLoop)
        self.handler = handler
    }

    /// - Returns: fails if no channel came to stand, be it that it was given up.
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

    /// Closes what there is of it. Nobody is told that a channel is open from now on.
    func giveUp() {
        isGivenUp = true
        for channel in channels { channel.close(promise: nil) }
        channels = []
    }

    private func equip(_ channel: any Channel, _ deadline: NIODeadline) throws {
        // A host may be found only now.
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
        // A gate that is gone has failed.
        let gate = try? channel.pipeline.syncOperations.handler(type: TLSGate.self)
        return gate?.opened ?? channel.eventLoop.makeFailedFuture(TLSFailure(.silence))
    }
}
