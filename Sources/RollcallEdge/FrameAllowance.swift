// Limits on frames that complete no message: pings, pongs and fragments. The message rate does not count them, but each
// costs CPU time.

/// How many such frames a connection may still send in this second, and how many pongs it may still receive.
struct FrameAllowance: Hashable {
    /// Pongs per second; far more than any client needs to measure latency.
    static let pongs: UInt8 = 32
    /// Frames per second; enough for the largest message in small fragments.
    static let frames: UInt16 = 16_384

    private var second: UInt32 = 0
    private var sentPongs: UInt8 = 0
    private var takenFrames: UInt16 = 0

    /// - Parameter awake: The loop's awake time.
    /// - Returns: Whether this frame is within the limit.
    mutating func takeFrame(at awake: Duration) -> Bool {
        turn(to: awake)
        guard takenFrames < Self.frames else { return false }
        takenFrames += 1
        return true
    }

    /// - Parameter awake: The loop's awake time.
    /// - Returns: Whether to answer this ping. Faster pings get no answer; RFC 6455 allows one pong for several pings.
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
