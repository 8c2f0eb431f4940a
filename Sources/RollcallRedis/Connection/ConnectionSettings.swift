// How patient a connection is, and how much it takes.

/// The limits of a connection to Redis; the defaults suit a Redis in the same data centre.
public struct ConnectionSettings: Hashable, Sendable {
    /// How long one attempt to connect may take before the next begins.
    public var connectTimeout: Duration
    /// How often Redis is asked for a sign of life.
    public var pingEvery: Duration
    /// How long nothing may come while an answer is waited for, before the connection counts as dead.
    public var deadAfter: Duration
    /// How many commands may wait for their replies at once; more are refused.
    public var maximumWaiting: Int
    /// What one reply may hold, in bytes, each value counted with 32 more. A larger one is read past and fails its
    /// command alone; one of sixteen times the size, or with one value larger than this, ends the connection.
    public var maximumReplyBytes: Int
    public var backoff: Backoff

    public init(
        connectTimeout: Duration = .seconds(1), pingEvery: Duration = .seconds(1), deadAfter: Duration = .seconds(3),
        maximumWaiting: Int = 65_536, maximumReplyBytes: Int = 64 << 20, backoff: Backoff = Backoff()
    ) {
        precondition(pingEvery > .zero && deadAfter > pingEvery, "a ping needs time to be answered")
        precondition(maximumWaiting > 0 && maximumReplyBytes > 0, "limits are positive")
        self.connectTimeout = connectTimeout
        self.pingEvery = pingEvery
        self.deadAfter = deadAfter
        self.maximumWaiting = maximumWaiting
        self.maximumReplyBytes = maximumReplyBytes
        self.backoff = backoff
    }
}
