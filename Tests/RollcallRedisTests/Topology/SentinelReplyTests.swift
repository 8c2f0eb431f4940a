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

    @Test func `facts are read by their names`() {
        let facts = SentinelReply.facts(.array(["config-epoch", "7", "num-other-sentinels", "2"].map { .text($0) }))
        let primary = RedisLocation.Address.host("10.0.0.1", port: 6379)
        #expect(SentinelReply.word(primary, facts) == SentinelWord(primary: primary, epoch: 7, others: 2))
        for other: RedisValue in [.null, .integer(1), .array([.text("config-epoch")]), .array([.null, .integer(1)])] {
            #expect(SentinelReply.word(primary, SentinelReply.facts(other)) == SentinelWord(primary: primary))
        }
    }

    @Test func `the others are read by the names of their facts`() {
        let facts = ["name", "abc", "ip", "10.0.0.2", "port", "26379", "runid", "r2", "flags", "sentinel"]
        let value = RedisValue.array(
            [
                .array(facts.map { .text($0) }), .array([.text("ip"), .text("10.0.0.3")]), .integer(1),
            ]
                + ["s_down,sentinel", "sentinel,disconnected"].map { flags in
                    .array((facts.dropLast() + [flags]).map { .text($0) })
                })
        #expect(
            SentinelReply.others(value) == [SentinelPeer(id: "r2", address: .host("10.0.0.2", port: 26_379))])
        #expect(SentinelReply.others(.null).isEmpty)
    }

    @Test func `a role is a primary's or not`() {
        #expect(SentinelReply.isPrimary(.array([.text("master"), .integer(0), .array([])])))
        #expect(!SentinelReply.isPrimary(.array([.text("slave"), .text("h")])))
        #expect(!SentinelReply.isPrimary(.status("OK")))
    }
}
