// How long a worker waits after an outage, of Redis or of its own, before it says what takes away from others, and
// before it believes that they are gone.

/// The waits after an outage.
public enum Patience {
    /// How long what says less is held back, so that what says more comes first.
    public static let beforeSayingLess = Duration.seconds(1)

    /// How much longer a removal is held back: the device may be back at another worker, which says so a little later.
    static let beforeRemoving = Duration.milliseconds(250)

    /// How long a worker waits before it judges those who have said nothing: one lease, but with short leases until
    /// others, who may have come back a little later, have said what says less.
    public static func beforeJudging(lease: Duration) -> Duration { max(lease, beforeSayingLess * 2) }
}
