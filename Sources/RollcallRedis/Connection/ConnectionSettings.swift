// Timeouts and limits of a connection.

/// The timeouts and limits of a connection to Redis. The defaults suit a Redis in the same data centre.
public struct ConnectionSettings: Hashable, Sendable {
    /// The timeout of one connection attempt.
    public var connectTimeout: Duration
    /// The interval of pings.
    public var pingEvery: Duration
    /// How long no data may arrive while a reply is pending, before the connection counts as dead.
    public var deadAfter: Duration
    /// The most commands that may wait for their replies; further ones fail.
    public var maximumWaiting: Int
    /// The size limit of one reply, in bytes; each value counts 32 bytes extra. A larger reply is skipped and fails
    /// only its command. A reply of 16 times this size, or with a single value larger than this, ends the connection.
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
