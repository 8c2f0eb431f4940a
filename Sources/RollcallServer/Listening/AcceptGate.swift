// Pauses accepting on a listening socket while the process has no free descriptors. New connections wait in the kernel's
// queue, at no cost. Closing them would make all their clients reconnect at once.

package import Logging
package import NIOCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Pauses accepting when no descriptor is free.
package final class AcceptGate: ChannelDuplexHandler {
    package typealias InboundIn = NIOAny
    package typealias OutboundIn = Never

    /// The pause after a failed accept. NIO would retry at once and use a whole core.
    package static let pause = TimeAmount.milliseconds(100)
    /// A shortage ends when accepting has not failed for this long.
    package static let recovery = TimeAmount.seconds(60)

    private let onShortage: (IOError) -> Void
    private var isPaused = false
    /// The time of the last failed accept.
    private var lastFailure: NIODeadline?

    /// - Parameter onShortage: Called once per shortage of descriptors, at the first failed accept.
    package init(onShortage: @escaping (IOError) -> Void) {
        self.onShortage = onShortage
    }

    package func read(context: ChannelHandlerContext) {
        if !isPaused { context.read() }
    }

    /// Stops errors that do not close the listener. A later handler could treat them as its end.
    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let failure = error as? IOError else { return context.fireErrorCaught(error) }
        switch failure.errnoCode {
        case EMFILE, ENFILE, ENOBUFS, ENOMEM: failed(failure, context)
        case ECONNABORTED: break
        default: context.fireErrorCaught(error)
        }
    }

    private func failed(_ failure: IOError, _ context: ChannelHandlerContext) {
        let now = context.eventLoop.now
        let isKnown = lastFailure.map { now - $0 < Self.recovery } ?? false
        lastFailure = now
        if !isKnown { onShortage(failure) }
        guard !isPaused else { return }
        isPaused = true
        // Holding back reads is not enough: the failed read is still pending.
        try? context.channel.syncOptions?.setOption(.autoRead, value: false)
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) {
            self.isPaused = false
            try? context.channel.syncOptions?.setOption(.autoRead, value: true)
        }
    }
}

extension Logger {
    /// Logs that a listening socket cannot accept, once per shortage.
    package func outOfFiles(_ error: IOError, port: String) {
        self.warning("connections wait: no open file is left", metadata: ["port": "\(port)", "reason": "\(error)"])
    }
}
