// Controls accepting on a listening socket: enforces `limits.connection_rate`, and pauses while the process has no free
// descriptors. In both cases new connections wait in the kernel's queue, at no cost. Closing them would make all their
// clients reconnect at once.

import NIOCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Limits the rate of accepted connections, and pauses when no descriptor is free.
final class AcceptGate: ChannelDuplexHandler {
    typealias InboundIn = NIOAny
    typealias OutboundIn = Never

    /// The pause after a failed accept. NIO would retry at once and use a whole core.
    static let pause = TimeAmount.milliseconds(100)
    /// A shortage ends when accepting has not failed for this long.
    static let recovery = TimeAmount.seconds(60)

    private var pace: AcceptPace?
    private let onHold: () -> Void
    private let onShortage: (IOError) -> Void
    private var isHolding = false
    private var isPaused = false
    /// The time of the last failed accept.
    private var lastFailure: NIODeadline?

    /// - Parameters:
    ///   - rate: Connections per second; `nil` for no limit.
    ///   - onHold: Called each time that a connection must wait for the rate.
    ///   - onShortage: Called once per shortage of descriptors, at the first failed accept.
    init(rate: Int? = nil, onHold: @escaping () -> Void = {}, onShortage: @escaping (IOError) -> Void) {
        pace = rate.map(AcceptPace.init)
        self.onHold = onHold
        self.onShortage = onShortage
    }

    func read(context: ChannelHandlerContext) {
        guard !isHolding, !isPaused else { return }
        let wait = pace?.wait(at: context.eventLoop.now) ?? .zero
        guard wait > .zero else { return context.read() }
        isHolding = true
        onHold()
        context.eventLoop.assumeIsolated().scheduleTask(in: wait) {
            self.isHolding = false
            self.read(context: context)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        pace?.accepted(at: context.eventLoop.now)
        context.fireChannelRead(data)
    }

    /// Stops errors that do not close the listener. A later handler could treat them as its end.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
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

/// When the next connection may be accepted, over all or for one user. If a socket accepts more connections than
/// allowed, the next ones wait longer.
struct AcceptPace {
    private let interval: Int64
    private let slack: Int64
    /// The time up to which the allowance is used, as if connections had arrived evenly.
    private var paidUntil = NIODeadline.uptimeNanoseconds(0)

    /// Allows bursts of a tenth of a second's connections.
    init(rate: Int) {
        interval = 1_000_000_000 / Int64(max(1, rate))
        slack = max(0, 100_000_000 - interval)
    }

    /// - Parameters:
    ///   - rate: The average connections per second, at least 1.
    ///   - burst: The most connections at once, at least 1.
    init(rate: Int, burst: Int) {
        interval = 1_000_000_000 / Int64(max(1, rate))
        slack = interval * Int64(max(1, burst) - 1)
    }

    mutating func accepted(at now: NIODeadline) {
        paidUntil = max(paidUntil, now) + .nanoseconds(interval)
    }

    /// Whether a full burst is allowed.
    func isRested(at now: NIODeadline) -> Bool { paidUntil <= now }

    func wait(at now: NIODeadline) -> TimeAmount {
        max(.zero, paidUntil - now - .nanoseconds(slack))
    }
}
