// Frames that complete no message: pings, pongs and fragments. The rate of messages does not count them, and each costs
// the worker something.

/// How many such frames a connection may still send in a second, and how many pongs it may still get.
struct FrameAllowance: Hashable {
    /// Pongs a second; far more than any client needs to measure its line.
    static let pongs: UInt8 = 32
    /// Frames a second; enough for the largest message in small fragments.
    static let frames: UInt16 = 16_384

    private var second: UInt32 = 0
    private var sentPongs: UInt8 = 0
    private var takenFrames: UInt16 = 0

    /// - Parameter awake: the loop's time.
    /// - Returns: whether this frame is within the allowance.
    mutating func takeFrame(at awake: Duration) -> Bool {
        turn(to: awake)
        guard takenFrames < Self.frames else { return false }
        takenFrames += 1
        return true
    }

    /// - Parameter awake: the loop's time.
    /// - Returns: whether this ping is answered. Pings that come faster are not; RFC 6455 lets a pong answer for the
    ///   pings before it.
    mutating func takePong(at awake: Duration) -> Bool {
        turn(to: awake)
        guard sentPongs < Self.pongs else { return false }
        sentPongs += 1
        return true
    }

    private mutating func turn(to awake: Duration) {
        let now = UInt32(truncatingIfNeeded: awake.components.seconds)
        guard now != second else { return }
        (second, sentPongs, takenFrames) = (now, 0, 0)
    }
}
