internal import RollcallCore

extension Instant {
    static func - (moment: Instant, duration: Duration) -> Instant { moment + (.zero - duration) }

    /// Seconds since the start, for the trace.
    var text: String { (self - Instant(nanoseconds: 0)).text }
}

extension Duration {
    /// This duration in whole nanoseconds.
    var nanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }

    /// Seconds with four decimals.
    var text: String {
        let parts = nanoseconds / 100_000
        let decimals = String(abs(parts % 10_000))
        return "\(parts / 10_000).\(String(repeating: "0", count: 4 - decimals.count))\(decimals)"
    }
}
