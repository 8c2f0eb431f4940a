// How long a worker waits after an outage, of Redis or its own, before it writes weaker states and before it treats
// other workers as gone.

/// Delays after an outage.
package enum RecoveryDelay {
    /// How long weaker states (idle, background, in grace, removed) are held back so that active devices are written
    /// first.
    package static let weakerStates = Duration.seconds(1)

    /// The extra delay of a removal: the device may have reconnected to another worker, which writes it slightly later.
    package static let removals = Duration.milliseconds(250)

    /// How long a worker waits before it judges incarnations that have shown no sign of life: one lease, but long
    /// enough for other workers to write their weaker states even if they recovered slightly later.
    static func judging(lease: Duration) -> Duration { max(lease, weakerStates * 2) }
}
