// Which workers a stopping worker may send its devices to.

import RollcallCore
import RollcallProtocol
import RollcallRedis
import Testing

@testable import RollcallServer

@Suite struct HandoverTests {
    private let own = Incarnation(name: "w1.a")

    private func snapshot(_ leases: [String: Int64]) -> LeaseSnapshot {
        let leases = leases.map { (Incarnation(name: ByteString($0)), Timestamp(milliseconds: $1)) }
        return LeaseSnapshot(
            held: true, time: Timestamp(milliseconds: 100), leases: Dictionary(uniqueKeysWithValues: leases))
    }

    private func destinations(
        _ edges: [String], from own: String = "wss://w1.chat.example/v1/connect", peers: [String] = []
    ) -> [String] {
        let cards = edges.map { WorkerCard(edge: ByteString($0), isDraining: false) }
        return Handover.destinations(cards, from: own, peers: peers).map(\.address.string)
    }

    @Test("only other workers with a valid lease are asked")
    func candidates() {
        let asked = Handover.candidates(in: snapshot(["w1.a": 900, "w2.b": 100, "w3.c": 99]), besides: own)
        #expect(asked == [Incarnation(name: "w2.b")])
    }

    @Test("of very many workers, a random selection is asked")
    func bounded() {
        let many = snapshot(Dictionary(uniqueKeysWithValues: (0..<1000).map { ("w\($0).x", 900) }))
        let asked = Handover.candidates(in: many, besides: own)
        #expect(Set(asked).count == Handover.mostAsked)
        #expect(Set(asked) != Set(Handover.candidates(in: many, besides: own)))
    }

    @Test("a worker that is stopping itself is not a destination")
    func leaving() {
        let cards = [
            WorkerCard(edge: "wss://w2.chat.example", isDraining: true),
            WorkerCard(edge: "wss://w3.chat.example", isDraining: false),
        ]
        #expect(Handover.destinations(cards, from: "wss://w1.chat.example").map(\.address) == ["wss://w3.chat.example"])
    }

    @Test("who has least gets most: what is missing to the mean, and a tenth of the mean where a worker leaves")
    func weights() {
        let cards = [("a", 120), ("b", 40), ("c", 0)].map { name, sessions in
            WorkerCard(edge: ByteString("wss://\(name).chat.example"), isDraining: false, sessions: sessions)
        }
        let own = "wss://w1.chat.example"
        let leaving = Handover.destinations(cards, from: own, sessions: 80)
        #expect(leaving.map(\.weight) == [8, 48, 88], "the mean will be 80")
        let shared = Handover.destinations(cards, from: own, mean: 60)
        #expect(
            shared.map(\.weight) == [20, 60]
                && shared.map(\.address) == ["wss://b.chat.example", "wss://c.chat.example"])
        #expect(
            Handover.destinations(cards.map { WorkerCard(edge: $0.edge, isDraining: false) }, from: own).map(\.weight)
                == [1, 1, 1])
    }

    @Test("workers behind one address are found there without being named")
    func oneAddress() {
        let shared = "wss://chat.example/v1/connect"
        #expect(destinations([shared, shared], from: shared).isEmpty)
    }

    @Test("each address counts once, even if several workers have it")
    func once() {
        #expect(destinations(["wss://w2.chat.example", "wss://w2.chat.example"]) == ["wss://w2.chat.example"])
    }

    @Test(
        "an unusable address is not a destination",
        arguments: [
            "ws://0.0.0.0:8080/v1/connect", "ws://[::]:8080/v1/connect", "ws://[0:0:0:0:0:0:0:0]:1/v1/connect",
            "ws://127.0.0.1:8080/v1/connect", "ws://localhost:8080", "ws://[::1]:8080", "http://w2.chat.example", "w2",
            "",
        ])
    func nowhere(edge: String) {
        #expect(destinations([edge]).isEmpty)
    }

    @Test("workers on loopback are destinations only for workers on loopback")
    func loopback() {
        let edges = ["ws://127.0.0.1:8090/v1/connect", "ws://127.0.0.1:8091/v1/connect"]
        let elsewhere = "ws://10.0.0.5:8080/v1/connect"
        #expect(destinations(edges + [elsewhere], from: "ws://127.0.0.1:8080/v1/connect") == edges)
        let peers = ["10.0.0.5", "127.0.0.1"]
        #expect(destinations([edges[0], elsewhere], from: "ws://127.0.0.1:1", peers: peers) == [elsewhere, edges[0]])
    }

    // Anyone who can write to Redis can claim that a worker is at any address.
    @Test(
        "devices are sent to the worker's own host and to others of its domain",
        arguments: [
            ("wss://w1.chat.example.org", "wss://w2.chat.example.org", true),
            ("wss://w1.chat.example.org", "wss://evil.example.org", false),
            ("wss://w1.chat.example.org", "wss://w2.chat.example.org.evil.net", false),
            ("wss://w1.chat.example.org", "wss://w2.evil.net/chat.example.org", false),
            ("wss://w1.chat.example.org", "wss://w2@evil.net", false),
            ("wss://w1.chat.example.org", "ws://w2.chat.example.org", false),
            ("wss://w1.chat.example.org", "wss://10.0.0.5", false),
            ("wss://w1.chat.example.org", #"wss://evil.net\@w2.chat.example.org/"#, false),
            ("wss://w1.chat.example.org", #"wss://evil.net\.chat.example.org/"#, false),
            ("wss://w1.chat.example.org", "wss://evil.net%2F.chat.example.org/", false),
            ("wss://w1.chat.example.org", "wss://w2.chat.example.org.", false),
            ("wss://w1.chat.example.org", "wss://w2.chat.example.org:8443/v1/connect", true),
            ("wss://chat.co.uk", "wss://evil.co.uk", false), ("wss://w1.chat.co.uk", "wss://w2.chat.co.uk", true),
            ("ws://worker-1", "ws://134744072", false), ("ws://worker-1", "ws://0x08080808", false),
            ("ws://worker-1", "ws://[fd00::1%25x]", false),
            ("wss://W1.Chat.Example.org", "wss://w2.chat.example.org", true),
            ("wss://w1.example.org", "wss://w2.example.org", true), ("wss://example.org", "wss://evil.org", false),
            ("wss://a.co.uk", "wss://b.co.uk", false), ("wss://example.org", "wss://example.org:8443", true),
            ("ws://worker-1:8080", "ws://worker-1:8081", true), ("ws://worker-1", "ws://worker-2", false),
            ("ws://10.0.0.5", "ws://10.0.0.5:9", true), ("ws://10.0.0.5", "ws://10.0.0.6", false),
            ("ws://[fd00::1]", "ws://[fd00::1]:8080", true), ("ws://[fd00::1]", "ws://[fd00::2]", false),
            ("ws://127.0.0.1:1", "ws://evil.net", false),
        ])
    func near(own: String, other: String, isNear: Bool) {
        #expect(destinations([other], from: own) == (isNear ? [other] : []), "\(other) from \(own)")
    }

    @Test("edge.peers names other permitted hosts, but never from wss:// to ws://")
    func peers() {
        let edges = [
            "wss://w2.example.net", "wss://example.net", "wss://xexample.net", "wss://10.0.0.9", "ws://w2.example.net",
        ]
        #expect(
            destinations(edges, peers: ["*.Example.net", "10.0.0.9"]) == ["wss://10.0.0.9", "wss://w2.example.net"])
        #expect(destinations(["wss://w2.chat.example"], peers: ["w3.chat.example"]).isEmpty)
        for wrong in ["", "*", "*.", "https://example.org", "a b", "exa*mple.org", "\u{301}.org"] {
            #expect(!PeerPolicy.isPattern(wrong), "\(wrong)")
        }
    }
}
