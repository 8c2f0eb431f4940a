// Orderly shutdown: each device is disconnected at its own random moment, so that the other workers do not receive all
// devices at once, and each device is away only while it reconnects.

public import RollcallModel

/// The settings of a shutdown.
struct Drain: Hashable, Sendable {
    /// When the last device is disconnected.
    let ends: Instant
    /// Addresses of other workers; empty if devices reconnect to the address they already use.
    let destinations: [ByteString]

    /// Draws the moment at which one session leaves.
    func moment(at now: Instant, using random: inout some RandomNumberGenerator) -> Instant {
        now + (ends - now) * Double.random(in: 0..<1, using: &random)
    }
}

extension Shard {
    /// Starts the shutdown: each device is disconnected at a random moment within `spread`.
    ///
    /// - Parameter destinations: addresses of other workers. Each device gets one of them.
    public func drain(
        over spread: Duration, to destinations: [ByteString] = [], at now: Instant
    ) {
        let drain = Drain(ends: now + spread, destinations: destinations)
        for session in sessions.drain(drain, at: now) { remindOfEnd(session) }
    }

    /// Whether no device is connected and, if Redis accepts writes, every decision is written.
    public var isDrained: Bool {
        sessions.all.allSatisfy { session in
            guard !session.isConnected else { return false }
            return !redis.takesWrites || session.recorder.map { $0.isWritten($0.sequence) } ?? true
        }
    }
}
