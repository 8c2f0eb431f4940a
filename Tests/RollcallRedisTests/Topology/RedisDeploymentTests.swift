import Testing

@testable import RollcallRedis

@Suite struct RedisDeploymentTests {
    private static func server(
        _ host: String, _ port: Int = 6379, user: String? = nil, password: String? = nil, database: Int = 0,
        tls: Bool = false
    ) -> RedisDeployment {
        RedisDeployment(
            .server(.host(host, port: port)), username: user, password: password, database: database,
            isEncrypted: tls)
    }

    private static let three = [("h1", 26_379), ("::1", 1), ("h3", 26_379)].map {
        RedisLocation.Address.host($0.0, port: $0.1)
    }

    private static let nodes = [("h1", 6379), ("h2", 7001)].map { RedisLocation.Address.host($0.0, port: $0.1) }

    @Test(arguments: [
        ("redis://127.0.0.1", server("127.0.0.1")),
        ("redis://redis.example:7000/3", server("redis.example", 7000, database: 3)),
        ("redis://localhost/", server("localhost")),
        ("REDIS://[::1]:6380", server("::1", 6380)),
        ("redis://:secret@h", server("h", password: "secret")),
        ("redis://app:p%40ss%3A%2F@h:1", server("h", 1, user: "app", password: "p@ss:/")),
        ("redis://app@h", server("h", user: "app")),
        ("rediss://h", server("h", tls: true)),
        ("rediss://app:pw@h:6380/1", server("h", 6380, user: "app", password: "pw", database: 1, tls: true)),
        ("redis+sentinel://h1,[::1]:1,h3/mymaster", RedisDeployment(.sentinel(three, name: "mymaster"))),
        ("redis+sentinel://h1,h1:26379,h1/m/", RedisDeployment(.sentinel([three[0]], name: "m"))),
        (
            "rediss+sentinel://app:p%2Cw@h1,[::1]:1,h3/m/2",
            RedisDeployment(
                .sentinel(three, name: "m"), username: "app", password: "p,w", database: 2, isEncrypted: true)
        ),
        ("redis+cluster://h1,h2:7001", RedisDeployment(.cluster(nodes))),
        ("redis+cluster://h1,h2:7001,h1:6379/0", RedisDeployment(.cluster(nodes))),
        (
            "rediss+cluster://app:p%2Cw@h1,h2:7001/",
            RedisDeployment(.cluster(nodes), username: "app", password: "p,w", isEncrypted: true)
        ),
        ("redis+unix:///run/redis.sock", RedisDeployment(.server(.unix(path: "/run/redis.sock")))),
        (
            "redis+unix://:pw@/run/redis.sock?db=2",
            RedisDeployment(.server(.unix(path: "/run/redis.sock")), password: "pw", database: 2)
        ),
    ])
    func `a URL names a deployment`(url: String, deployment: RedisDeployment) throws {
        #expect(try RedisDeployment(url: url) == deployment)
    }

    @Test(arguments: [
        "", "127.0.0.1:6379", "redis:", "redis://", "redis://h:0", "redis://h:70000", "redis://h/x", "redis://h/-1",
        "redis://h?db=1", "http://h", "redis+unix://run/redis.sock", "redis+unix://", "redis+unix:///s?db=x",
        "redis+unix:///s?timeout=1", "rediss+unix:///s", "rediss://h?db=1", "redis+cluster://h1,h2/1",
        "redis+cluster://", "redis+cluster://h1/x", "redis+cluster://h1?db=1",
        "redis+cluster://h1,u:a b@h2", "redis://:a b@h",
        "redis://h1,h2", "rediss://h1,h2/0", "redis+sentinel://h1,h2", "redis+sentinel://h1/", "redis+sentinel:///m",
        "redis+sentinel://h1,/m", "redis+sentinel://h1,h2:0/m", "redis+sentinel://h1/m/x", "redis+sentinel://h1/m/1/2",
        "redis+sentinel://h1/m?db=1", "redis+sentinel://u:a b,c@h1/m", "redis+sentinel://h1,u:a b@h2/m",
        "redis+sentinel://h1/my%20master",
    ])
    func `what we cannot use is refused with a sentence`(url: String) throws {
        let error = try #require(throws: InvalidRedisURL.self) { try RedisDeployment(url: url) }
        #expect(error.description.count > 15)
        #expect(!error.description.contains("a b"))
    }

    @Test(arguments: [
        ("redis://app:secret@[::1]:6380/2", "redis://app@[::1]:6380/2"),
        ("rediss+sentinel://app:secret@h1,h2:1/m/2", "rediss+sentinel://app@h1:26379,h2:1/m/2"),
        ("rediss+cluster://app:secret@h1,h2:1", "rediss+cluster://app@h1:6379,h2:1"),
        ("rediss://:secret@h", "rediss://h:6379/0"), ("redis+unix://:secret@/s", "redis+unix:///s?db=0"),
    ])
    func `a deployment shows its user and never its password`(url: String, shown: String) throws {
        let deployment = try RedisDeployment(url: url)
        #expect("\(deployment)" == shown)
        #expect(!String(reflecting: deployment).contains("secret"))
    }
}
