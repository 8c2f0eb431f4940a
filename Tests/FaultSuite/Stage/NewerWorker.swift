// What a worker of a later version would leave in Redis, written by hand.

internal import Harness

/// A worker with one device, which speaks of things that this version has never heard of.
struct NewerWorker: Sendable {
    private static let incarnation = "w9.f00df00d"
    private static let session = "1500000000000-abcd0123"
    private let redis: RedisControl

    init(_ redis: RedisControl) {
        self.redis = redis
    }

    /// It claims a lease and writes its device.
    func begin() async throws {
        let name = Self.incarnation
        try await redis.cli("ZADD", "{workers}", "99999999999999", name)
        try await redis.cli(
            "HSET", "{workers}:\(name)", "host", "h9", "pid", "9", "edge", "ws://127.0.0.1:9/v1/connect", "beat",
            "1500000000000", "sessions", "1", "version", "9.0", "format", "2", "waltz", "3")
        try await redis.cli("SADD", "worker:{\(name)}:sessions", "future watch abcd0123")
        try await redis.cli(
            "HSET", "presence:{future}", "status", "online", "last_seen", "1500000000000", "updated_at",
            "1500000000000", "version", "1500000000000", "availability", "dnd", "mood", "glad", "device:watch",
            "active \(name) \(Self.session) 1 1500000000000 0 strength=3 more", "device:ring",
            "hidden \(name) \(Self.session) 1 1500000000000 0", "device:odd", "active")
    }

    /// What it publishes about its device.
    var presence: String {
        #"{"user":"future","status":"online","last_seen":1500000000000,"updated_at":1500000000000,"#
            + #""version":1500000000000,"devices":2,"at":1500000000000,"mood":{"now":"glad"},"hints":[1,2]}"#
    }

    /// Its device types.
    func typing() async throws -> String {
        let time = try await redis.cli("TIME").split(separator: "\n").compactMap { Int($0) }
        let now = time[0] * 1000 + time[1] / 1000
        return #"{"user":"future","typing":true,"expires_in":3000,"at":\#(now),"device":"watch","speed":[1.5e3,null]}"#
    }

    func tell(_ channel: String, _ message: String) async throws {
        try await redis.cli("PUBLISH", channel, message)
    }

    /// What nobody of this version should have touched.
    func unknownFields() async throws -> String {
        let values = try await redis.cli("HMGET", "presence:{future}", "availability", "mood", "device:ring")
        let words = values.split(separator: "\n").map { $0.split(separator: " ")[0] }
        return words.joined(separator: "|")
    }

    /// Its lease passes.
    func end() async throws {
        try await redis.cli("ZADD", "{workers}", "1", Self.incarnation)
    }
}
