// What a worker of a later version might write to Redis and publish, written by hand.

internal import Harness
internal import TestSupport

/// A worker with one device that uses fields and values unknown to this version.
struct NewerWorker: Sendable {
    private static let incarnation = "w9.f00df00d"
    private let redis: RedisControl
    /// The earliest and latest moments at which its lease expires.
    let ends: ClosedRange<Moment>

    /// Claims a lease.
    init(_ redis: RedisControl, lease: Duration) async throws {
        self.redis = redis
        let asked = Moment.now
        let time = try await redis.time()
        ends = (asked + lease)...(.now + lease)
        let name = Self.incarnation
        try await redis.cli("ZADD", "{workers}", "\(time + Int(lease.inSeconds * 1000))", name)
        try await redis.cli(
            "HSET", "{workers}:\(name)", "host", "h9", "pid", "9", "edge", "ws://127.0.0.1:9/v1/connect", "beat",
            "\(time)", "sessions", "1", "version", "9.0", "format", "2", "waltz", "3")
        try await redis.cli("SADD", "worker:{\(name)}:sessions", "future watch abcd0123")
    }

    /// Connects its device: the record of the user `future` is written and published in one script, as workers do.
    ///
    /// - Returns: when.
    func deviceComes() async throws -> Moment {
        let moment = Moment.now
        try await redis.cli("EVAL", Self.write, "1", "presence:{future}", Self.incarnation, redis.whole.publishing)
        return moment
    }

    private static let write = """
        local time = redis.call('TIME')
        local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
        redis.call('HSET', KEYS[1], 'status', 'online', 'last_seen', now, 'updated_at', now, 'version', now,
          'availability', 'dnd', 'mood', 'glad',
          'device:watch', 'active ' .. ARGV[1] .. ' ' .. now .. '-abcd0123 1 ' .. now .. ' 0 strength=3 more',
          'device:ring', 'hidden ' .. ARGV[1] .. ' ' .. now .. '-dcba3210 1 ' .. now .. ' 0', 'device:odd', 'active')
        redis.call(ARGV[2], KEYS[1], '{"user":"future","status":"online","last_seen":' .. now
          .. ',"updated_at":' .. now .. ',"version":' .. now .. ',"devices":2,"at":' .. now
          .. ',"mood":{"now":"glad"},"hints":[1,2]}')
        """

    /// Publishes that its device types.
    ///
    /// - Returns: when it began.
    func types(in room: String) async throws -> Moment {
        let (moment, now) = (Moment.now, try await redis.time())
        let typing = #"{"user":"future","typing":true,"expires_in":3000,"at":\#(now),"speed":[1.5e3,null]}"#
        try await redis.whole.publish(typing, to: "typing:{\(room)}")
        return moment
    }

    /// Sends another worker a message of an unknown type.
    func notify(_ incarnation: String) async throws {
        try await redis.whole.publish(#"{"waltz":{"steps":3}}"#, to: "worker:{\(incarnation)}")
    }

    /// Returns what this version must not change: two fields, and the values of its device after the sixth.
    func unknownFields() async throws -> [String] {
        let values = try await redis.cli("HMGET", "presence:{future}", "availability", "mood", "device:watch")
        let lines = values.split(separator: "\n").map(String.init)
        return lines.dropLast() + [lines.last?.split(separator: " ").dropFirst(6).joined(separator: " ") ?? ""]
    }
}
