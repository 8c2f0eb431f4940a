// The lower bound of the bench: what Redis and the kernel need for one message.

/// A publisher and a subscriber of one Redis, with nothing in between.
struct PublishProbe {
    private let publisher: BlockingSocket
    private let subscriber: BlockingSocket
    private let command: [UInt8]
    private let message: [UInt8]

    init(_ redis: PrivateRedis) throws {
        publisher = try BlockingSocket(port: redis.port)
        subscriber = try BlockingSocket(port: redis.port)
        // As long as the messages that typing publishes.
        let channel = "typing:{bench-floor}"
        let payload = #"{"user":"bench-floor","typing":true,"expires_in":3000,"at":1700000000000}"#
        command = Self.array(["PUBLISH", channel, payload])
        message = Self.array(["message", channel, payload])
        try subscriber.write(Self.array(["SUBSCRIBE", channel]))
        // The reply consists of the same two words and a number.
        _ = try subscriber.read(Self.array(["subscribe", channel]).count + ":1\r\n".utf8.count)
    }

    /// Returns the time from the write to the complete message.
    func measure() throws -> Duration {
        let start = ContinuousClock.now
        try publisher.write(command)
        let heard = try subscriber.read(message.count)
        let latency = start.duration(to: .now)
        guard heard == message else { throw BenchFailure("Redis delivered a different message than was published") }
        _ = try publisher.read(through: "\r\n")
        return latency
    }

    /// Returns an array of bulk strings in RESP.
    private static func array(_ words: [String]) -> [UInt8] {
        Array(("*\(words.count)\r\n" + words.map { "$\($0.utf8.count)\r\n\($0)\r\n" }.joined()).utf8)
    }
}
