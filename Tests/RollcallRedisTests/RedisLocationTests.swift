import Testing

@testable import RollcallRedis

@Suite struct RedisLocationTests {
    @Test(arguments: [
        ("redis://127.0.0.1", RedisLocation(.host("127.0.0.1", port: 6379))),
        ("redis://redis.example:7000/3", RedisLocation(.host("redis.example", port: 7000), database: 3)),
        ("redis://localhost/", RedisLocation(.host("localhost", port: 6379))),
        ("REDIS://[::1]:6380", RedisLocation(.host("::1", port: 6380))),
        ("redis://:secret@h", RedisLocation(.host("h", port: 6379), password: "secret")),
        ("redis://app:p%40ss%3A%2F@h:1", RedisLocation(.host("h", port: 1), username: "app", password: "p@ss:/")),
        ("redis://app@h", RedisLocation(.host("h", port: 6379), username: "app")),
        ("redis+unix:///run/redis.sock", RedisLocation(.unix(path: "/run/redis.sock"))),
        (
            "redis+unix://:pw@/run/redis.sock?db=2",
            RedisLocation(.unix(path: "/run/redis.sock"), password: "pw", database: 2)
        ),
    ])
    func `a URL names a server`(url: String, location: RedisLocation) throws {
        #expect(try RedisLocation(url: url) == location)
    }

    @Test(arguments: [
        "", "127.0.0.1:6379", "redis:", "redis://", "redis://h:0", "redis://h:70000", "redis://h/x", "redis://h/-1",
        "redis://h?db=1", "http://h", "redis+unix://run/redis.sock", "redis+unix://", "redis+unix:///s?db=x",
        "redis+unix:///s?timeout=1", "rediss://h", "redis+sentinel://h1,h2/name", "redis+cluster://h1,h2",
        "redis://:a b@h",
    ])
    func `what we cannot use is refused with a sentence`(url: String) throws {
        let error = try #require(throws: InvalidRedisURL.self) { try RedisLocation(url: url) }
        #expect(error.description.count > 15)
        #expect(!error.description.contains("a b"))
    }

    @Test func `a location shows its user and never its password`() throws {
        let location = try RedisLocation(url: "redis://app:secret@[::1]:6380/2")
        #expect("\(location)" == "redis://app@[::1]:6380/2")
        #expect(!String(reflecting: location).contains("secret"))
        #expect("\(RedisLocation(.unix(path: "/s"), password: "secret"))" == "redis+unix:///s?db=0")
    }
}
