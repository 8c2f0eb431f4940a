// Where Redis may differ from what sessions decided, and what repairs it: steps and typing stops that failed, devices
// of dropped sessions, and the audit, which finds everything else.

struct WriteRepairs {
    /// Sessions whose last step failed; the next heartbeat retries them. Only sessions that exist.
    private var blocked: Set<Session> = []
    /// Whether a session was dropped whose device, or entry on the worker's list, is still in Redis. Only a sweep of
    /// this incarnation removes that.
    private var needsSweep = false
    /// Typing stops in flight to Redis, or not delivered to it.
    var stops = PendingStops()
    /// The progress of the audit.
    var audit = Audit()

    /// The number of sessions whose last step failed.
    var blockedCount: Int { blocked.count }

    /// Has the next heartbeat retry a session's step.
    mutating func retryLater(_ session: Session) {
        blocked.insert(session)
    }

    /// Handles that a session was removed.
    mutating func forget(_ session: Session) {
        blocked.remove(session)
    }

    /// Handles that a session was dropped that leaves something in Redis.
    mutating func leftDevice() {
        needsSweep = true
    }

    /// Handles a new incarnation, under which all sessions are written. The previous one will be swept.
    mutating func incarnationBegan() {
        blocked = []
        needsSweep = false
    }

    /// Removes and returns the sessions to retry, by number.
    mutating func takeBlocked() -> [Session] {
        defer { blocked = [] }
        return blocked.sorted { $0.number < $1.number }
    }

    /// Returns, once, whether a new incarnation has to begin so that this one is swept.
    mutating func takeNeedsSweep() -> Bool {
        defer { needsSweep = false }
        return needsSweep
    }
}
