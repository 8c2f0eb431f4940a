// A client may ping, and gets its pong, but not as fast as it likes: a pong costs a write.

/// How many pongs a connection may still have in a second.
struct PongAllowance: Hashable {
    /// Pongs a second; far more than any client needs to measure its line.
    static let rate: UInt8 = 32

    private var second: UInt32 = 0
    private var spent: UInt8 = 0

    /// - Parameter awake: the loop's time.
    /// - Returns: whether this ping is answered. What comes faster is not; RFC 6455 lets a pong answer for the pings
    ///   before it.
    mutating func take(at awake: Duration) -> Bool {
        let now = UInt32(truncatingIfNeeded: awake.components.seconds)
        if now != second {
            second = now
            spent = 0
        }
        guard spent < Self.rate else { return false }
        spent += 1
        return true
    }
}
