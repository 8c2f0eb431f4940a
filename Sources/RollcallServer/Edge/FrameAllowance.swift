// Limits frames that complete no message: pings, pongs and fragments. The message rate does not count them, but each
// costs CPU time.

/// How many such frames a connection may still send in this second.
struct FrameAllowance: Hashable {
    /// Frames per second; enough for the largest message in small fragments.
    ///
    /// Limit: frames in one second that complete no message (pings, pongs, fragments), for each connection. The next
    /// one closes it with 4103.
    static let frames: UInt16 = 16_384
    /// Pings after this many such frames in a second get no answer: RFC 6455 §5.5.3 allows one pong for several pings, and
    /// pongs for a flood cost others time.
    ///
    /// Limit: pings, pongs and fragments in one second, after which pings get no pong.
    private static let answered: UInt16 = 32

    private var second: UInt32 = 0
    private var taken: UInt16 = 0

    /// Whether a ping that was taken is answered.
    var answersPing: Bool { taken <= Self.answered }

    /// - Parameter awake: The loop's awake time.
    /// - Returns: Whether this frame is within the limit.
    mutating func take(at awake: Duration) -> Bool {
        let now = UInt32(truncatingIfNeeded: awake.components.seconds)
        if now != second { (second, taken) = (now, 0) }
        guard taken < Self.frames else { return false }
        taken += 1
        return true
    }
}
