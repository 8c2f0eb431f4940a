// What stands before a listening socket: `limits.connection_rate`, and a pause while the process has no free descriptors.
// In both cases new connections wait in the kernel's queue, where waiting costs nothing. To close them would make their
// clients reconnect, all together.

import NIOCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Accepts so many connections a second, and pauses when the system cannot give another descriptor.
final class AcceptGate: ChannelDuplexHandler {
    typealias InboundIn = NIOAny
    typealias OutboundIn = Never

    /// How long accepting pauses after a failure. NIO would try again at once, and use a whole core.
    static let pause = TimeAmount.milliseconds(100)
    /// A shortage is over when accepting has not failed for so long.
    static let recovery = TimeAmount.seconds(60)

    private var pace: AcceptPace?
    private let onHold: () -> Void
    private let onShortage: (IOError) -> Void
    private var isHolding = false
    private var isPaused = false
    /// When accepting last failed.
    private var lastFailure: NIODeadline?

    /// - Parameters:
    ///   - rate: connections a second; nil for as many as come.
    ///   - onHold: called each time that a connection has to wait for the rate.
    ///   - onShortage: called once for each shortage of descriptors, when accepting first fails.
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

    /// What NIO keeps the listener open for ends here: a handler behind this one could take it for the end.
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
        // To hold back reads is not enough: the one that failed is still pending.
        try? context.channel.syncOptions?.setOption(.autoRead, value: false)
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) {
            self.isPaused = false
            try? context.channel.syncOptions?.setOption(.autoRead, value: true)
        }
    }
}

/// When the next connection may be accepted, of all or of one user. A socket that gives more than it was asked for is
/// paid for afterwards.
struct AcceptPace {
    private let interval: Int64
    private let slack: Int64
    /// When everybody who came would have come, had they come evenly.
    private var paidUntil = NIODeadline.uptimeNanoseconds(0)

    /// A tenth of a second's worth may come at once.
    init(rate: Int) {
        interval = 1_000_000_000 / Int64(max(1, rate))
        slack = max(0, 100_000_000 - interval)
    }

    /// - Parameters:
    ///   - rate: connections a second in the long run, at least one.
    ///   - burst: how many may come at once, at least one.
    init(rate: Int, burst: Int) {
        interval = 1_000_000_000 / Int64(max(1, rate))
        slack = interval * Int64(max(1, burst) - 1)
    }

    mutating func accepted(at now: NIODeadline) {
        paidUntil = max(paidUntil, now) + .nanoseconds(interval)
    }

    /// Whether as many may come at once as ever.
    func isRested(at now: NIODeadline) -> Bool { paidUntil <= now }

    func wait(at now: NIODeadline) -> TimeAmount {
        max(.zero, paidUntil - now - .nanoseconds(slack))
    }
}
