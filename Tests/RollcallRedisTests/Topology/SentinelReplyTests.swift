import Testing

@testable import RollcallRedis

@Suite struct SentinelReplyTests {
    @Test func `an address is a host and a port`() {
        #expect(SentinelReply.address(.array([.text("10.0.0.1"), .text("6379")])) == .host("10.0.0.1", port: 6379))
        for other: RedisValue in [
            .null, .array([]), .array([.text("h")]), .array([.text(""), .text("1")]),
            .array([.text("h"), .text("0")]), .array([.text("h"), .text("x")]), .integer(3),
        ] {
            #expect(SentinelReply.address(other) == nil)
        }
    }

    @Test func `the others are read by the names of their facts`() {
        let facts = ["name", "abc", "ip", "10.0.0.2", "port", "26379", "flags", "sentinel"]
        let value = RedisValue.array(
            [
                .array(facts.map { .text($0) }), .array([.text("ip"), .text("10.0.0.3")]), .integer(1),
            ]
                + ["s_down,sentinel", "sentinel,disconnected"].map { flags in
                    .array((facts.dropLast() + [flags]).map { .text($0) })
                })
        #expect(SentinelReply.others(value) == [.host("10.0.0.2", port: 26_379)])
        #expect(SentinelReply.others(.null).isEmpty)
    }

    @Test func `a switch tells where the primary of a name is now`() {
        let message = "mymaster 10.0.0.1 6379 10.0.0.2 6380"
        #expect(SentinelReply.switched(message, of: "mymaster") == .host("10.0.0.2", port: 6380))
        #expect(SentinelReply.switched(message, of: "other") == nil)
        #expect(SentinelReply.switched("mymaster 10.0.0.1 6379", of: "mymaster") == nil)
    }

    @Test func `a role is a primary's or not`() {
        #expect(SentinelReply.isPrimary(.array([.text("master"), .integer(0), .array([])])))
        #expect(!SentinelReply.isPrimary(.array([.text("slave"), .text("h")])))
        #expect(!SentinelReply.isPrimary(.status("OK")))
    }
}

@Suite struct SentinelListTests {
    private func host(_ number: Int) -> RedisLocation.Address { .host("s\(number)", port: 26_379) }

    @Test func `turns go round`() {
        var list = SentinelList([host(1), host(2)])
        #expect(list.current == nil)
        #expect((0..<3).map { _ in list.advance() } == [host(1), host(2), host(1)])
        #expect(list.current == host(1))
    }

    @Test func `others are learnt, each once, beside those that were given`() {
        var list = SentinelList([host(1), host(2)])
        _ = list.advance()
        list.learn([host(2), host(3), host(3), host(4)])
        #expect(list.all == [host(1), host(2), host(3), host(4)])
        #expect(list.current == host(1))
        #expect((0..<4).map { _ in list.advance() } == [host(2), host(3), host(4), host(1)])
    }

    @Test func `after one that was of use it begins again with those that were given`() {
        var list = SentinelList([host(1), host(2)])
        list.learn([host(3)])
        for _ in 0..<3 { _ = list.advance() }
        #expect(list.current == host(3))
        list.proved()
        #expect((0..<3).map { _ in list.advance() } == [host(1), host(2), host(3)])
        _ = list.advance()
        list.proved()
        #expect(list.advance() == host(2), "the first has just been lost")
    }

    @Test func `whose turn it is stays, and what is told of no more is forgotten`() {
        var list = SentinelList([host(1)])
        _ = list.advance()
        list.learn([host(2), host(3)])
        _ = list.advance()
        list.learn([host(1), host(4)])
        #expect(list.current == host(2))
        #expect(list.all == [host(1), host(2), host(4)])
    }

    @Test func `no more are learnt than anybody has`() {
        var list = SentinelList([host(0)])
        list.learn((1...1000).map(host))
        #expect(list.all.count == 1 + SentinelList.most)
    }
}
