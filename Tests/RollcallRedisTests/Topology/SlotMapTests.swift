// A cluster's reports about itself, as values.

import RollcallModel
import TestSupport
import Testing

@testable import RollcallRedis

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
                #expect(placed.name.dropLast(6) == drawn.name.dropLast(6) && placed.name.count == drawn.name.count)
                #expect(placed.worker == Substring(worker) && names.besideLeases(placed) == placed)
            }
        }
    }

    @Test(arguments: [
        ("cluster_state:ok\r\ncluster_slots_pfail:5461\r\n", ClusterSearch.Health.well),
        ("cluster_state:fail\r\ncluster_slots_pfail:0\r\ncluster_slots_fail:5461\r\n", .lacksPrimary),
        ("cluster_state:fail\r\ncluster_slots_pfail:10922\r\ncluster_slots_fail:0\r\n", .cutOff), ("", .cutOff),
    ])
    func `a node that has not agreed on who is lost may be of a minority`(info: String, health: ClusterSearch.Health) {
        #expect(ClusterSearch.Health(info) == health)
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
        let redirection = Redirection(RedisError(reply: line, command: "GET"))
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
