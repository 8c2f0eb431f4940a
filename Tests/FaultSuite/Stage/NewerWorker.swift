// What a worker of a later version would leave in Redis and say there, written by hand.

internal import Harness
internal import TestSupport

/// A worker with one device, which speaks of things that this version has never heard of.
struct NewerWorker: Sendable {
    private static let incarnation = "w9.f00df00d"
    private let redis: RedisControl
    /// When its lease passes, at the earliest and at the latest.
    let ends: ClosedRange<Moment>

    /// It claims a lease.
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

    /// Its device comes: the record of the user `future` is written and published, in one step as always.
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

    /// Its device types.
    ///
    /// - Returns: when it began.
    func types(in room: String) async throws -> Moment {
        let (moment, now) = (Moment.now, try await redis.time())
        let typing = #"{"user":"future","typing":true,"expires_in":3000,"at":\#(now),"speed":[1.5e3,null]}"#
        try await redis.whole.publish(typing, to: "typing:{\(room)}")
        return moment
    }

    /// It tells another worker something new.
    func notify(_ incarnation: String) async throws {
        try await redis.whole.publish(#"{"waltz":{"steps":3}}"#, to: "worker:{\(incarnation)}")
    }

    /// What nobody of this version should have touched: two fields, and the words that its device has beyond six.
    func unknownFields() async throws -> [String] {
        let values = try await redis.cli("HMGET", "presence:{future}", "availability", "mood", "device:watch")
        let lines = values.split(separator: "\n").map(String.init)
        return lines.dropLast() + [lines.last?.split(separator: " ").dropFirst(6).joined(separator: " ") ?? ""]
    }
}
