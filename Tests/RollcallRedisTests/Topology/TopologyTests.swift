// What a URL names, what Sentinels and cluster nodes report, and what follows from it.

import NIOCore
import NIOPosix
import RollcallProtocol
import TestSupport
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

@Suite struct PrimaryChoiceTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    private let old = RedisLocation.Address.host("10.0.0.1", port: 6379)
    private let new = RedisLocation.Address.host("10.0.0.2", port: 6379)

    /// Returns the primary after three sentinels have reported these, each with an epoch.
    private func heard(
        _ choice: inout PrimaryChoice, _ reports: [(RedisLocation.Address, Int)], after time: TimeAmount = .zero
    ) -> RedisLocation.Address? {
        let reports = reports.map { SentinelReport(primary: $0.0, epoch: $0.1) }
        let before = choice.current?.primary
        let hasChanged = choice.heard(reports, at: Self.start + time)
        #expect(hasChanged == (choice.current?.primary != before))
        return choice.current?.primary
    }

    @Test func `without reports, the last choice stays`() {
        var choice = PrimaryChoice(of: 3)
        #expect(heard(&choice, []) == nil)
        #expect(heard(&choice, [(old, 1)]) == old)
        #expect(heard(&choice, [], after: .hours(1)) == old)
    }

    @Test func `the newest failover decides, not the number of reports`() {
        var choice = PrimaryChoice(of: 3)
        #expect(heard(&choice, [(old, 4), (new, 5), (old, 4)]) == new)
    }

    @Test func `within an epoch most reports decide, and then the current primary`() {
        var choice = PrimaryChoice(of: 3)
        #expect(heard(&choice, [(new, 0), (old, 0), (new, 0)]) == new)
        #expect(heard(&choice, [(old, 0), (new, 0)]) == new)
        #expect(heard(&choice, [(old, 0), (old, 0), (new, 0)]) == old)
        #expect(heard(&choice, [(old, 0), (new, 0)]) == old)
    }

    @Test func `a minority with older epochs is never believed, and a majority only if it stays with them`() {
        var choice = PrimaryChoice(of: 3)
        #expect(heard(&choice, [(new, 5)]) == new)
        for seconds in Int64(0)..<100 { #expect(heard(&choice, [(old, 4)], after: .seconds(seconds)) == new) }
        for seconds in Int64(100)..<200 {
            // One sentinel that knows of the failover answers from time to time.
            let reports = seconds % 9 == 0 ? [(old, 4), (old, 4), (new, 5)] : [(old, 4), (old, 4)]
            #expect(heard(&choice, reports, after: .seconds(seconds)) == new)
        }
        let begun = TimeAmount.seconds(200)
        #expect(heard(&choice, [(new, 5)], after: begun) == new)
        #expect(heard(&choice, [(old, 0), (old, 0)], after: begun) == new)
        let most = PrimaryChoice.renumbering
        #expect(heard(&choice, [(old, 0), (old, 0)], after: begun + most - .milliseconds(1)) == new)
        #expect(heard(&choice, [(old, 0), (old, 0)], after: begun + most) == old)
        #expect(heard(&choice, [(new, 1), (old, 0)], after: begun + most) == new)
    }
}

@Suite struct SlotMapTests {
    private static let asked = host("10.0.0.1")

    private static func host(_ name: String, _ port: Int = 6379) -> RedisLocation.Address { .host(name, port: port) }

    private func node(_ host: RedisValue, _ port: Int64 = 6379) -> RedisValue {
        .array([host, .integer(port), .text("id")])
    }

    private func range(_ first: Int64, _ last: Int64, _ nodes: RedisValue...) -> RedisValue {
        .array([.integer(first), .integer(last)] + nodes)
    }

    @Test(arguments: [
        ("123456789", 12_739), ("foo", 12_182), ("{user1000}.following", 3443), ("{user1000}.followers", 3443),
        ("user1000", 3443), ("foo{}{bar}", 8363), ("foo{{bar}}zap", 4015), ("foo{bar}{zap}", 5061), ("bar", 5061),
        ("", 0), ("{", 4092), ("}{", 12_793),
    ])
    func `a key's slot is that of its tag`(key: String, slot: Int) {
        #expect(KeySlot.of(key) == slot)
    }

    @Test func `the tag of a name alone gives the same slot`() {
        for tag in ["alice", "café", "w1.3f9a2c"] {
            #expect(KeySlot.of(tag: tag) == KeySlot.of("presence:{\(tag)}"))
        }
    }

    /// Regression: while the primary with a worker's list was away, no device that connected to that worker was
    /// written, whatever its slot.
    @Test func `the list of a worker's sessions lies with the leases`() {
        var random = SeededGenerator(seed: 7)
        for (prefix, worker) in [("", "w1"), ("app:", "a-long_Name"), ("", "w")] {
            let names = KeyNames(prefix: prefix)
            for _ in 0..<20 {
                let drawn = Incarnation(worker: worker, using: &random)
                let placed = names.besideLeases(drawn)
                for name in [names.sessions(placed), names.sweeper(placed), names.channel(of: .worker(placed))] {
                    #expect(KeySlot.of(name) == KeySlot.of(names.workers))
                }
                let (name, other) = (placed.name.string, drawn.name.string)
                #expect(name.dropLast(6) == other.dropLast(6) && name.count == other.count)
                #expect(placed.worker == ByteString(worker) && names.besideLeases(placed) == placed)
            }
        }
    }

    @Test(arguments: [
        ("cluster_state:ok\r\ncluster_slots_pfail:5461\r\n", ClusterSearch.Health.well),
        ("cluster_state:fail\r\ncluster_slots_pfail:0\r\ncluster_slots_fail:5461\r\n", .lacksPrimary),
        ("cluster_state:fail\r\ncluster_slots_pfail:10922\r\ncluster_slots_fail:0\r\n", .cutOff), ("", .cutOff),
    ])
    func `a node that has not agreed on who is lost may be of a minority`(info: String, health: ClusterSearch.Health) {
        #expect(ClusterSearch.Health(ByteString(info)) == health)
    }

    @Test func `a replica more changes no slot`() throws {
        func map(_ nodes: RedisValue...) throws -> SlotMap {
            try #require(SlotMap(.array([.array([.integer(0), .integer(16_383)] + nodes)]), from: Self.asked))
        }
        let (a, b) = (node(.text("a")), node(.text("b")))
        #expect(try map(a).hasSlots(of: map(a, b)) && map(a) != map(a, b) && !map(a).hasSlots(of: map(b)))
    }

    @Test func `no answer names more primaries than there are slots`() {
        let hosts = (0..<20_000).map { range(0, 0, node(.text("host\($0)"))) }
        #expect(SlotMap(.array(hosts), from: Self.asked) == nil)
    }

    @Test func `each slot has a primary`() throws {
        let map = try #require(
            SlotMap(
                .array([
                    range(0, 99, node(.text("10.0.0.1")), node(.text("10.0.0.9"))),
                    range(100, 16_000, node(.text("10.0.0.2"), 7000)), range(16_001, 16_383, node(.text("10.0.0.1"))),
                ]), from: Self.asked))
        #expect(map.primaries == [Self.host("10.0.0.1"), Self.host("10.0.0.2", 7000)])
        #expect(map.replicas == [Self.host("10.0.0.9")])
        #expect(
            [0, 99, 100, 16_000, 16_001].map { map[$0].description } == [
                "10.0.0.1:6379", "10.0.0.1:6379", "10.0.0.2:7000", "10.0.0.2:7000", "10.0.0.1:6379",
            ])
    }

    @Test(arguments: [RedisValue.text(""), .text("?"), .null])
    func `a node without a name is where the one is that was asked`(name: RedisValue) throws {
        let map = try #require(SlotMap(.array([range(0, 16_383, node(name, 7001))]), from: Self.asked))
        #expect(map[5] == Self.host("10.0.0.1", 7001))
    }

    @Test func `a slot that nobody has stays with whoever had it`() throws {
        let before = try #require(SlotMap(.array([range(0, 16_383, node(.text("a")))]), from: Self.asked))
        let after = try #require(
            SlotMap(.array([range(0, 99, node(.text("b")))]), from: Self.asked, after: before))
        #expect(after[99] == Self.host("b") && after[100] == Self.host("a"))
        let first = try #require(SlotMap(.array([range(0, 99, node(.text("b")))]), from: Self.asked))
        #expect(first[100] == Self.host("b"))
    }

    @Test func `what is no map is none`() {
        for other: RedisValue in [
            .null, .array([]), .integer(1), .array([range(0, 99)]), .array([range(0, 16_384, node(.text("a")))]),
            .array([range(5, 4, node(.text("a")))]), .array([range(-1, 4, node(.text("a")))]),
            .array([range(0, 9, node(.text("a"), 0))]), .array([range(0, 9, .array([.text("a")]))]),
        ] {
            #expect(SlotMap(other, from: Self.asked) == nil, "\(other)")
        }
        #expect(SlotMap(.array([range(0, 9, node(.null))]), from: .unix(path: "/s")) == nil)
    }

    @Test(arguments: [
        ("MOVED 3999 10.0.0.2:6381", host("10.0.0.2", 6381), true),
        ("ASK 3999 10.0.0.2:6381", host("10.0.0.2", 6381), false),
        ("MOVED 1 fe80::1:7000", host("fe80::1", 7000), true), ("MOVED 1 :7000", host("10.0.0.1", 7000), true),
        ("MOVED 1 ?:7000", host("10.0.0.1", 7000), true), ("MOVED 1 a", nil, true), ("MOVED a:1", nil, true),
        ("MOVED 1 a:0", nil, true), ("ASK", nil, false), ("TRYAGAIN 1 a:1", nil, true), ("ERR MOVED 1 a:1", nil, true),
    ])
    func `an error may say where else`(line: String, target: RedisLocation.Address?, isPermanent: Bool) {
        let redirection = Redirection(RedisError(reply: ByteString(line), command: "GET"))
        #expect(redirection?.target(from: Self.asked) == target)
        #expect(redirection == nil || redirection?.isPermanent == isPermanent)
    }

    @Test func `a cluster's scripts publish to slots, and are the same besides`() {
        for script in Script.all {
            #expect(!script.sharded.source.contains("'PUBLISH'"))
            #expect(script.sharded.source.replacing("'SPUBLISH'", with: "'PUBLISH'") == script.source)
        }
        #expect(Script.all.contains { $0.sharded.source.contains("redis.call('SPUBLISH', ") })
    }
}

@Suite("Looking up names")
struct NameLookupTests {
    private let loop = MultiThreadedEventLoopGroup.singleton.next()

    @Test("an address needs no look-up, and localhost has one")
    func found() async throws {
        for (host, expected) in [("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("localhost", "127.0.0.1")] {
            let found = try await NameLookups.addresses(of: host, port: 7, within: .seconds(10), on: loop).get()
            #expect(found.contains { $0.ipAddress == expected && $0.port == 7 }, "\(host): \(found)")
        }
    }

    @Test("what has no address fails for all who wait, with its name")
    func missing() async throws {
        let waiting = (0..<3).map { _ in
            NameLookups.addresses(of: "no-such-host.invalid", port: 7, within: .seconds(30), on: loop)
        }
        for future in waiting {
            let error = await #expect(throws: NameLookupFailure.self) { try await future.get() }
            #expect(error?.description.hasPrefix("looking up no-such-host.invalid: ") == true)
        }
    }
}
