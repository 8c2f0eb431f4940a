// An orderly stop: each device is sent elsewhere at a moment of its own, so that the other workers are not met by all
// of them at once, and each is away only as long as its connecting takes.

internal import RollcallModel

/// How a worker that stops lets go of its devices.
struct Drain: Hashable, Sendable {
    /// When the last one is to have left.
    let ends: Instant
    /// Other workers' addresses; none where a device finds its way as it came.
    let destinations: [String]
}

extension Shard {
    /// The worker is about to stop: each device is sent elsewhere at its own moment within `spread`.
    ///
    /// - Parameter destinations: the addresses of other workers, of which each device is told one.
    public mutating func drain(
        over spread: Duration, to destinations: [String] = [], at now: Instant
    ) -> [ShardAction] {
        drain = Drain(ends: now + spread, destinations: destinations)
        for key in sessions.keys where sessions[key]?.isConnected == true {
            leaveWithDrain(key, at: now)
            remindOfEnd(key)
        }
        return take()
    }

    /// Whether no device is connected any more and every record says what was decided, if there is a Redis to say it.
    public var isDrained: Bool {
        sessions.keys.allSatisfy { key in
            guard let session = sessions[key] else { return true }
            guard !session.isConnected else { return false }
            return !takesWrites || session.recorder.map { $0.isWritten($0.sequence) } ?? true
        }
    }

    /// Gives a session its moment, if the worker drains.
    mutating func leaveWithDrain(_ key: SessionKey, at now: Instant) {
        guard let drain else { return }
        sessions[key]?.leaves = now + (drain.ends - now) * Double.random(in: 0..<1, using: &random)
    }

    /// A device's moment has come.
    mutating func sendElsewhere(_ key: SessionKey, at now: Instant) {
        let destination = drain?.destinations.randomElement(using: &random)
        let goodbye = ServerMessage.Goodbye(reason: .draining, reconnect: true, after: 0, to: destination)
        actions.append(.send(.goodbye(goodbye), to: [key]))
        close(key, .draining, at: now)
    }
}
