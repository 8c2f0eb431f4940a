// `limits.connection_rate`. Whoever comes faster waits where waiting costs nobody anything: in the kernel, whose queue
// is short enough for that rate. To close on them instead would make them come again, all together.

import NIOCore

/// Stands before the listening socket, and lets so many connections in a second.
final class AcceptGate: ChannelDuplexHandler {
    typealias InboundIn = NIOAny
    typealias OutboundIn = Never

    private var pace: AcceptPace
    private let onHold: () -> Void
    private var isHolding = false

    /// - Parameter onHold: called each time that somebody has to wait.
    init(rate: Int, onHold: @escaping () -> Void) {
        pace = AcceptPace(rate: rate)
        self.onHold = onHold
    }

    func read(context: ChannelHandlerContext) {
        guard !isHolding else { return }
        let wait = pace.wait(at: context.eventLoop.now)
        guard wait > .zero else { return context.read() }
        isHolding = true
        onHold()
        context.eventLoop.assumeIsolated().scheduleTask(in: wait) {
            self.isHolding = false
            self.read(context: context)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        pace.accepted(at: context.eventLoop.now)
        context.fireChannelRead(data)
    }
}

/// When the next connection may be accepted. A tenth of a second's worth may come at once; a socket that gives more than
/// it was asked for is paid for afterwards.
struct AcceptPace {
    private let interval: Int64
    private let slack: Int64
    /// When everybody who came would have come, had they come evenly.
    private var paidUntil = NIODeadline.uptimeNanoseconds(0)

    init(rate: Int) {
        interval = 1_000_000_000 / Int64(max(1, rate))
        slack = max(0, 100_000_000 - interval)
    }

    mutating func accepted(at now: NIODeadline) {
        paidUntil = max(paidUntil, now) + .nanoseconds(interval)
    }

    func wait(at now: NIODeadline) -> TimeAmount {
        max(.zero, paidUntil - now - .nanoseconds(slack))
    }
}
