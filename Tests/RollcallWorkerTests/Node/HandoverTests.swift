// To whom a worker that leaves may send its devices.

import RollcallModel
import RollcallRedis
import Testing

@testable import RollcallWorker

@Suite struct HandoverTests {
    private let own = Incarnation(name: "w1.a")

    private func snapshot(_ leases: [String: Int64]) -> LeaseSnapshot {
        let leases = leases.map { (Incarnation(name: $0), Timestamp(milliseconds: $1)) }
        return LeaseSnapshot(
            held: true, time: Timestamp(milliseconds: 100), leases: Dictionary(uniqueKeysWithValues: leases))
    }

    private func destinations(_ edges: [String], from own: String = "wss://w1.example/v1/connect") -> [String] {
        Handover.destinations(edges.map { WorkerCard(edge: $0, isDraining: false) }, from: own)
    }

    @Test("only others are asked, and only those whose lease stands")
    func candidates() {
        let asked = Handover.candidates(in: snapshot(["w1.a": 900, "w2.b": 100, "w3.c": 99]), besides: own)
        #expect(asked == [Incarnation(name: "w2.b")])
    }

    @Test("of very many some are asked, not always the same")
    func bounded() {
        let many = snapshot(Dictionary(uniqueKeysWithValues: (0..<1000).map { ("w\($0).x", 900) }))
        let asked = Handover.candidates(in: many, besides: own)
        #expect(Set(asked).count == Handover.mostAsked)
        #expect(Set(asked) != Set(Handover.candidates(in: many, besides: own)))
    }

    @Test("a worker that leaves itself is nowhere to go")
    func leaving() {
        let cards = [
            WorkerCard(edge: "wss://w2.example", isDraining: true),
            WorkerCard(edge: "wss://w3.example", isDraining: false),
        ]
        #expect(Handover.destinations(cards, from: "wss://w1.example") == ["wss://w3.example"])
    }

    @Test("workers behind one address are found there without being named")
    func oneAddress() {
        let shared = "wss://chat.example/v1/connect"
        #expect(destinations([shared, shared], from: shared).isEmpty)
    }

    @Test("each address counts once, whoever else says it")
    func once() {
        #expect(destinations(["wss://w2.example", "wss://w2.example"]) == ["wss://w2.example"])
    }

    @Test(
        "an address at which nobody is found is none",
        arguments: [
            "ws://0.0.0.0:8080/v1/connect", "ws://[::]:8080/v1/connect", "ws://[0:0:0:0:0:0:0:0]:1/v1/connect",
            "ws://127.0.0.1:8080/v1/connect", "ws://localhost:8080", "ws://[::1]:8080", "http://w2.example", "w2", "",
        ])
    func nowhere(edge: String) {
        #expect(destinations([edge]).isEmpty)
    }

    @Test("workers on loopback are for those who are there too")
    func loopback() {
        let edges = ["ws://127.0.0.1:8090/v1/connect", "ws://[::1]:8091/v1/connect", "ws://10.0.0.5:8080/v1/connect"]
        #expect(destinations(edges, from: "ws://127.0.0.1:8080/v1/connect") == edges.sorted())
    }
}
