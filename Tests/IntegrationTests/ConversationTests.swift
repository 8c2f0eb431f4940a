// Conversations on real workers: who sees typing there, and what a removed member still sees.

import FaultSuite
import Foundation
import Harness
import RollcallClient
import RollcallProtocol
import TestSupport
import Testing

@Suite("Conversations on real workers")
struct ConversationTests {
    @Test("typing comes only from conversations that were joined, until they are left")
    func onlyObserved() async throws {
        let deployment = try await Deployment(workers: 2)
        let alice = try await deployment.workers[0].device("alice", "phone")
        let bob = try await deployment.workers[1].device("bob", "phone")
        for conversation in ["c1", "c2", "c3"] as [ConversationID] {
            try await alice.ask(.join(conversation, presence: false))
        }
        for conversation in ["c1", "c2"] as [ConversationID] { try await bob.ask(.join(conversation, presence: false)) }
        try await bob.ask(.leave("c2"))
        // Updates of the first conversation arrive after any that would have been sent for the others.
        for conversation in ["c3", "c2", "c1"] as [ConversationID] { try await alice.ask(.typing(conversation, true)) }
        try await eventually("bob sees alice") { try await bob.typing(in: "c1")?.count == 1 }
        #expect(try await bob.typing(in: "c2")?.count == 0)
        #expect(try await bob.typing(in: "c3") == nil)
    }

    @Test("a bot types as long as a server says, at any worker, until another says something else")
    func bot() async throws {
        let deployment = try await Deployment(workers: 2)
        let (here, there) = (deployment.workers[0], deployment.workers[1])
        let bob = try await there.device("bob", "phone")
        try await bob.ask(.join("c", presence: false))
        let path = "/v1/conversations/c/typing/ada"
        #expect(try await here.ask("PUT", path, #"{"kind":"thinking","for":"60s"}"#).status == 204)
        try await eventually("ada thinks") { try await bob.typing(in: "c")?.users.map(\.kind) == [.thinking] }
        try await Task.sleep(for: .seconds(4))
        #expect(try await bob.typing(in: "c")?.count == 1, "its worker renews it")
        #expect(try await there.ask("PUT", path, #"{"for":"60s"}"#).status == 204)
        try await eventually("ada types") { try await bob.typing(in: "c")?.users.map(\.kind) == [.typing] }
        #expect(try await here.ask("DELETE", path).status == 204)
        try await eventually("ada has stopped") { try await bob.typing(in: "c")?.count == 0 }
        try await Task.sleep(for: .seconds(2))
        #expect(try await bob.typing(in: "c")?.count == 0, "nobody renews what was ended")
        #expect(try await here.ask("PUT", path, #"{"for":"3s"}"#).status == 204)
        try await eventually("ada types again") { try await bob.typing(in: "c")?.count == 1 }
        try await eventually("and stops by itself") { try await bob.typing(in: "c")?.count == 0 }
    }

    /// The device continues to type: what it sends after its removal has no effect.
    @Test(
        "a removed member's typing ends everywhere within 500 ms, the member is notified, and cannot type again",
        .enabled(if: isSoaking))
    func removedWhileTyping() async throws {
        let deployment = try await Deployment(workers: 2)
        let conversation: ConversationID = "c"
        try await deployment.redis.cli("HSET", "members:{c}", "{managed}", "1", "alice", "A", "bob", "B", "carol", "C")
        let alice = try await deployment.workers[0].device("alice", "phone")
        let others = [
            try await deployment.workers[0].device("bob", "phone"),
            try await deployment.workers[1].device("carol", "phone"),
        ]
        for device in [alice] + others { try await device.ask(.join(conversation, presence: false)) }
        for (round, worker) in deployment.workers.enumerated() {
            try await alice.ask(.typing(conversation, true))
            for other in others {
                try await eventually("the others see alice") { try await other.typing(in: conversation)?.count == 1 }
            }
            let metronome = Metronome()
            let start = ContinuousClock.now
            #expect(try await worker.ask("DELETE", "/v1/conversations/c/members/alice").status < 300)
            for other in others {
                try await eventually("typing has ended") { try await other.typing(in: conversation)?.count == 0 }
            }
            let time = ContinuousClock.now - start
            #expect(time < .milliseconds(500) + metronome.longestDelay(since: start), "\(time)")
            try await eventually("alice is notified") {
                try await alice.look()
                return alice.messages.contains(.removed(conversation))
            }
            #expect(try await alice.ask(.typing(conversation, true))?.code == .notJoined)
            #expect(try await alice.ask(.join(conversation, presence: false))?.code == .notAMember)
            for other in others { #expect(try await other.typing(in: conversation)?.count == 0) }
            guard round == 0 else { continue }
            #expect(try await worker.ask("PUT", "/v1/conversations/c/members/alice", #"{"name":"A"}"#).status < 300)
            #expect(try await alice.ask(.join(conversation, presence: false)) == nil)
        }
    }

    @Test("if conversations are closed by default, only members join and type")
    func closedByDefault() async throws {
        let deployment = try await Deployment(workers: 1, settings: ["conversations.default": "closed"])
        try await deployment.redis.cli("HSET", "members:{ours}", "{managed}", "1", "alice", "Alice")
        let alice = try await deployment.workers[0].device("alice", "phone")
        #expect(try await alice.ask(.join("anybodys", presence: false))?.code == .notAMember)
        #expect(try await alice.ask(.typing("anybodys", true))?.code == .notJoined)
        #expect(try await deployment.redis.cli("EXISTS", "typing:{anybodys}") == "0")
        #expect(try await alice.ask(.join("ours", presence: false)) == nil)
        #expect(try await alice.ask(.typing("ours", true)) == nil)
        #expect(try await deployment.redis.cli("EXISTS", "typing:{ours}:alice") == "1")
        let mallory = try await deployment.workers[0].device("mallory", "phone")
        #expect(try await mallory.ask(.join("ours", presence: false))?.code == .notAMember)
    }

    @Test("where presence is shared, users see those with whom they have joined a conversation, and nobody else")
    func sharedPresence() async throws {
        let deployment = try await Deployment(workers: 2, settings: ["access.watch": "shared"])
        let (worker, other) = (deployment.workers[0], deployment.workers[1])
        #expect(try await worker.ask("PUT", "/v1/conversations/c/members/alice", #"{"name":"A"}"#).status < 300)
        #expect(try await worker.ask("PUT", "/v1/conversations/c/members/bob", #"{"name":"B"}"#).status < 300)
        let alice = try await other.device("alice", "phone")
        try await alice.ask(.state(.active))
        let (bob, mallory) = (try await worker.device("bob", "phone"), try await worker.device("mallory", "phone"))
        try await bob.ask(.join("c", presence: true))
        for each in [bob, mallory] { try await each.ask(.watch(["alice", "nobody"])) }
        try await eventually("bob sees her") {
            try await bob.look()
            return bob.messages.newest("alice")?.status == .online
        }
        #expect(mallory.messages.newest("alice")?.version == 0)
        #expect(try await worker.ask("DELETE", "/v1/conversations/c/members/bob").status < 300)
        try await eventually("he no longer sees her") {
            try await bob.look()
            return bob.messages.newest("alice")?.version == 0
        }
        try await alice.ask(.state(.idle))
        try await alice.ask(.state(.active))
        try await mallory.look()
        #expect(mallory.messages.count { if case .presence = $0 { true } else { false } } == 1)
    }

    @Test("a stop is acknowledged when nothing of it is left in Redis, even if the start was deferred")
    func stopsAcknowledged() async throws {
        let deployment = try await Deployment(workers: 1)
        let alice = try await deployment.workers[0].device("alice", "phone")
        for number in 0..<10 {
            let conversation = try ConversationID("c\(number)")
            try await alice.ask(.join(conversation, presence: false))
            for _ in 0...(number % 3) { try await alice.send(.typing(conversation, true)) }
            try await alice.ask(.typing(conversation, false))
            #expect(try await deployment.redis.cli("EXISTS", "typing:{\(conversation)}:alice") == "0")
        }
    }
}

extension [ServerMessage] {
    func newest(_ user: UserID) -> Presence? {
        flatMap { if case .presence(let users, _) = $0 { users } else { [Presence]() } }.last { $0.user == user }
    }
}
