// Limits the rate of connections and of hellos.

package import NIOCore

/// When the next connection may be accepted, over all or for one user. If a socket accepts more connections than
/// allowed, the next ones wait longer.
package struct AcceptPace: Sendable {
    private let interval: Int64
    private let slack: Int64
    /// The time up to which the allowance is used, as if connections had arrived evenly.
    private var paidUntil = NIODeadline.uptimeNanoseconds(0)

    /// Allows bursts of a tenth of a second's connections.
    package init(rate: Int) {
        interval = 1_000_000_000 / Int64(max(1, rate))
        slack = max(0, 100_000_000 - interval)
    }

    /// - Parameters:
    ///   - rate: The average connections per second, at least 1.
    ///   - burst: The most connections at once, at least 1.
    package init(rate: Int, burst: Int) {
        interval = 1_000_000_000 / Int64(max(1, rate))
        slack = interval * Int64(max(1, burst) - 1)
    }

    package mutating func accepted(at now: NIODeadline) {
        paidUntil = max(paidUntil, now) + .nanoseconds(interval)
    }

    /// Whether a full burst is allowed.
    package func isRested(at now: NIODeadline) -> Bool { paidUntil <= now }

    package func wait(at now: NIODeadline) -> TimeAmount {
        max(.zero, paidUntil - now - .nanoseconds(slack))
    }
}
