import Testing
import TestSupport
@Test func redisStarts() async throws {
    let redis = try await RedisServer()
    #expect(try await redis.cli("PING") == "PONG")
}
