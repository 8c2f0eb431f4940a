import Testing

@testable import RollcallRedis

@Suite struct SentinelListTests {
    private func host(_ number: Int) -> RedisLocation.Address { .host("10.0.0.\(number)", port: 26_379) }
    private func peer(_ number: Int) -> SentinelPeer { SentinelPeer(id: "s\(number)", address: host(number)) }

    @Test func `others are learnt, each once, beside those that were given`() {
        var list = SentinelList([host(1), host(2)])
        list.learn([peer(2), peer(3), peer(3), peer(4)], from: host(1), present: [host(1)])
        #expect(list.all == [host(1), host(2), host(3), host(4)])
        list.learn([peer(1), peer(5)], from: host(2), present: [host(1), host(2)])
        #expect(list.all == (1...5).map(host), "of both")
    }

    @Test func `who is away and told of no more is forgotten`() {
        var list = SentinelList([host(1)])
        list.learn([peer(2), peer(3)], from: host(1), present: [host(1)])
        list.learn([peer(4)], from: host(1), present: [host(1), host(3)])
        #expect(list.all == [host(1), host(3), host(4)])
    }

    @Test func `of whom those told that are away is known until somebody else tells`() {
        var list = SentinelList([host(1), host(2)])
        list.learn([peer(3)], from: host(1), present: [host(1)])
        #expect(list.all == [host(1), host(2), host(3)])
        list.learn([peer(4)], from: host(2), present: [host(2)])
        #expect(list.all == [host(1), host(2), host(4)])
    }

    @Test func `a deployment all of whose sentinels were replaced is still known`() {
        var list = SentinelList([host(1)])
        list.learn([peer(2)], from: host(1), present: [host(1)])
        list.learn([peer(3)], from: host(2), present: [host(2)])
        list.learn([peer(4)], from: host(3), present: [host(3)])
        #expect(list.all == [host(1), host(3), host(4)])
    }

    @Test func `one that has two addresses is asked at that of the URL`() {
        let named = RedisLocation.Address.host("s2.example", port: 26_379)
        var list = SentinelList([host(1), named])
        list.learn([peer(2), peer(3)], from: host(1), present: [host(1)])
        #expect(list.all == [host(1), named, host(2), host(3)], "nobody knows yet")
        list.identified(named, as: "s2")
        #expect(list.all == [host(1), named, host(3)])
        list.identified(host(3), as: "s3")
        #expect(list.all == [host(1), named, host(3)], "it has no other")
    }

    @Test func `no more are learnt than anybody has`() {
        var list = SentinelList([host(0)])
        list.learn((1...1000).map(peer), from: host(0), present: [])
        #expect(list.all.count == 1 + SentinelList.most)
    }
}
