// Which conversations without members a session may join: a right of the session, from its token.

import RollcallProtocol
import Testing

@testable import RedisTwin
@testable import RollcallCore

@Suite("The right to join") struct JoinRightStories {
    private static func closed() -> Stage {
        var settings = ShardSettings.uncoalesced
        settings.join = .none
        return Stage(settings)
    }

    private func renew(_ key: Session, _ right: JoinRight?, issued: Int64, on stage: Stage) {
        let issued = Timestamp(milliseconds: issued)
        stage.show(Proof(user: "alice", device: "phone", issued: issued, grant: Grant(join: right)), on: key)
        stage.settle()
    }

    @Test(
        "a name opens itself, a pattern all names that begin so",
        arguments: [
            ("c42", ["c42"], true), ("c421", ["c42"], false), ("team7:a", ["team7:*"], true),
            ("team7", ["team7:*"], false),
            ("c", ["*"], true), ("c", [], false), ("caf\u{65}\u{301}", ["caf\u{E9}"], false), ("a*", ["a**"], true),
        ] as [(ConversationID, [ByteString], Bool)])
    func patterns(conversation: ConversationID, entries: [ByteString], opens: Bool) {
        #expect(JoinRight.only(entries).covers(conversation) == opens)
    }

    @Test("one device's token admits no other device of the user, to the room or to typing")
    func perSession() {
        let stage = Self.closed()
        let phone = stage.enter("alice", "phone", right: .only(["c"]))
        let laptop = stage.enter("alice", "laptop")
        for (key, id) in [(phone, "p"), (laptop, "l")] as [(Session, MessageID)] {
            stage.say(.join("c", presence: false), id: id, on: key)
        }
        stage.settle()
        let (told, refused) = (stage.heard(by: phone), stage.heard(by: laptop))
        #expect(told.contains(.ack("p")) && told.welcome?.join == .only(["c"]))
        #expect(refused.errors == [.notAMember] && refused.welcome?.join == JoinRight.none)
        let sentences = refused.compactMap { if case .error(let error) = $0 { error.message } else { nil } }
        #expect(sentences.contains { $0.contains("claim join") && $0.contains("conversations.default") })
        stage.say(.typing("c", true), id: "t", on: phone)
        stage.settle()
        #expect(stage.heard(by: phone).contains(.ack("t")))
    }

    @Test("where there are members, they alone decide; when the list is deleted, the right counts again")
    func members() {
        let stage = Self.closed()
        stage.redis.setMembers(["bob": ""], of: "c")
        let (alice, bob) = (stage.enter("alice", right: .all), stage.enter("bob"))
        for key in [alice, bob] { stage.say(.join("c", presence: false), on: key) }
        stage.settle()
        #expect(stage.heard(by: alice).errors == [.notAMember] && stage.heard(by: bob).errors.isEmpty)
        stage.say(.typing("c", true), on: bob)
        stage.settle()
        stage.redis.deleteMembers(of: "c")
        stage.settle()
        #expect(stage.heard(by: bob).contains(.removed("c")))
        #expect(stage.redis.room("c", users: [], withTyping: true, mostMembers: 0).typists.isEmpty)
        stage.say(.join("c", presence: false), id: "j", on: alice)
        stage.settle()
        #expect(stage.heard(by: alice).contains(.ack("j")))
    }

    @Test("a fresh token that opens less removes from the rest; an older one opens nothing")
    func narrowed() {
        let stage = Self.closed()
        stage.redis.setMembers(["alice": ""], of: "ours")
        let alice = stage.enter("alice", issued: Timestamp(milliseconds: 1000), right: .all)
        for conversation in ["a", "b", "ours"] as [ConversationID] {
            stage.say(.join(conversation, presence: false), on: alice)
        }
        stage.settle()
        stage.say(.typing("b", true), on: alice)
        stage.settle()
        stage.forgetWhatWasSaid()
        renew(alice, .only(["a"]), issued: 2000, on: stage)
        #expect(stage.heard(by: alice) == [.removed("b")])
        #expect(stage.redis.room("b", users: [], withTyping: true, mostMembers: 0).typists.isEmpty)
        renew(alice, .all, issued: 1500, on: stage)
        stage.say(.join("b", presence: false), on: alice)
        stage.settle()
        #expect(stage.heard(by: alice).errors == [.notAMember])
        renew(alice, .all, issued: 2000, on: stage)
        stage.say(.join("b", presence: false), id: "j", on: alice)
        stage.settle()
        #expect(stage.heard(by: alice).contains(.ack("j")))
    }

    @Test(
        "a token that opens less costs one read for each conversation that it closes, and none for those with members")
    func cost() {
        let stage = Self.closed()
        stage.redis.setMembers(["alice": ""], of: "ours")
        let alice = stage.enter("alice", issued: Timestamp(milliseconds: 1000), right: .all)
        for conversation in ["a", "ours"] as [ConversationID] {
            stage.say(.join(conversation, presence: false), on: alice)
        }
        stage.settle()
        let reads = stage.redisCost.reads
        renew(alice, JoinRight.none, issued: 1000, on: stage)
        #expect(stage.redisCost.reads == reads + 1)
        renew(alice, JoinRight.none, issued: 1000, on: stage)
        #expect(stage.redisCost.reads == reads + 1)
    }

    @Test("a token that arrives while Redis is away is judged when Redis is back")
    func duringAnOutage() {
        let stage = Self.closed()
        let alice = stage.enter("alice", issued: Timestamp(milliseconds: 1000), right: .all)
        stage.say(.join("a", presence: false), on: alice)
        stage.settle()
        stage.redisGoes()
        renew(alice, JoinRight.none, issued: 1000, on: stage)
        #expect(!stage.heard(by: alice).contains(.removed("a")))
        stage.redisReturns()
        stage.settle()
        #expect(stage.heard(by: alice).contains(.removed("a")))
    }
}
