// The scripts on a server that is full, and on one that belongs to a cluster.

import RollcallModel
import RollcallRedis
import TestSupport
import Testing

/// What must be possible while Redis is full.
enum Deed: CaseIterable {
    case begin, renew, end, note, strike, write, remove, stop, stopOneOfTwo, claim, sweep, forget

    /// Writes what must exist before Redis is full.
    func prepare(_ store: StoreUnderTest) async throws {
        switch self {
        case .begin, .note, .write, .forget:
            break
        case .renew, .end:
            try await store.beat(.begin, w1)
        case .strike, .claim:
            try await store.record([Session("aa").name])
        case .remove, .sweep:
            try await store.write(Session("aa").says(.active, 1))
        case .stop:
            try await store.signal(alice, phone)
        case .stopOneOfTwo:
            try await store.signal(alice, phone)
            try await store.signal(alice, tablet)
        }
    }

    func happens(_ store: StoreUnderTest) async throws {
        switch self {
        case .begin: #expect(try await store.beat(.begin, w1).held)
        case .renew: #expect(try await store.beat(.renew, w1).held)
        case .end: #expect(try await store.beat(.end(after: .zero), w1).held)
        case .note: try await store.record([Session("aa").name])
        case .strike: try await store.unrecord([Session("aa").name])
        case .write: #expect(try await store.write(Session("aa").says(.active, 1)).outcome == .written)
        case .remove: #expect(try await store.write(Session("aa").says(nil, 2)).outcome == .written)
        case .stop, .stopOneOfTwo: #expect(try await store.stop(alice, phone) == .stopped)
        case .claim: #expect(try await store.claim(limit: 5) == [Session("aa").name])
        case .sweep: #expect(try await store.sweep(Session("aa").name, lastBeat: nil) == .swept)
        case .forget: #expect(try await store.forget(w1))
        }
    }
}

@Suite(.serialized) struct StoreServerTests {
    private let sessions = [Session("aa").name]

    /// Makes Redis refuse everything that needs memory.
    private func fill(_ store: StoreUnderTest) async throws {
        try await store.command("CONFIG", "SET", "maxmemory-policy", "noeviction")
        try await store.command("CONFIG", "SET", "maxmemory", "1")
        let error = await #expect(throws: RedisError.self) { try await store.command("SET", "any", "thing") }
        #expect(error?.code == .server(kind: "OOM"))
    }

    @Test(arguments: Deed.allCases) func whatKeepsTheTruthRunsOnAFullServer(deed: Deed) async throws {
        let store = try await StoreUnderTest()
        try await deed.prepare(store)
        try await fill(store)
        try await deed.happens(store)
    }

    @Test func whatOnlyAddsIsRefusedWholeByAFullServer() async throws {
        let store = try await StoreUnderTest()
        try await store.setMembers([alice: "Alice"])
        try await fill(store)
        let before = try await store.hash("members:{lounge}")
        let signal = await #expect(throws: RedisError.self) { try await store.signal(alice) }
        let members = await #expect(throws: RedisError.self) { try await store.setMembers([bob: "Bob"]) }

        #expect(signal?.code == .server(kind: "OOM"))
        #expect(members?.code == .server(kind: "OOM"))
        #expect(try await store.hash("members:{lounge}") == before)
        #expect(try await store.command("EXISTS", "typing:{lounge}", "typing:{lounge}:alice").integer == 0)
        try await store.call { $0.removeMember(alice, of: lounge, reply: $1) }
        #expect(try await store.room(user: alice).isMember == false)
    }

    /// A node that owns all slots refuses a script whose keys are in two of them, as in any cluster.
    @Test func theKeysOfEachScriptLieInOneSlot() async throws {
        let store = try await StoreUnderTest(
            options: ["--cluster-enabled", "yes", "--cluster-port", "\(try freePort())"])
        try await store.command("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
        try await eventually("the cluster of one is well") {
            try await store.command("CLUSTER", "INFO").string?.hasPrefix("cluster_state:ok") == true
        }
        let refused = await #expect(throws: RedisError.self) { try await store.command("MSET", "a", "1", "b", "2") }
        #expect(refused?.code == .server(kind: "CROSSSLOT"))

        #expect(try await store.beat(.begin, w1).held)
        #expect(try await store.standing(of: w1).beat != nil)
        try await store.record(sessions)
        #expect(try await store.write(Session("aa").says(.active, 1)).outcome == .written)
        #expect(try await store.record(of: alice).devices[phone]?.state == .active)
        #expect(try await store.claim(limit: 5) == sessions)
        #expect(try await store.sweep(Session("aa").name, lastBeat: nil) == .swept)
        try await store.unrecord(sessions)
        #expect(try await store.forget(w2))
        #expect(try await store.signal(alice) == .typing)
        try await store.call { $0.setMember(bob, name: "Bob", of: lounge, reply: $1) }
        #expect(try await store.signal(bob) == .typing)
        #expect(try await store.room(mostMembers: 100).typists.map(\.user) == [bob])
        #expect(try await store.stop(bob) == .stopped)
        try await store.signal(bob)
        try await store.call { $0.removeMember(bob, of: lounge, reply: $1) }
        try await store.setMembers([alice: "Alice"])
        try await store.call { $0.deleteMembers(of: lounge, reply: $1) }
    }
}
