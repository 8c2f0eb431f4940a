// Conversations that an app's server opens: who is let in, for how long, and what happens when it changes its mind.

import RollcallProtocol
import Testing

@testable import RedisTwin
@testable import RollcallCore

@Suite("An app's server decides who may join") struct AccessStories {
    private static let hour = AccessAnswer.allow(for: .seconds(3600), people: nil)

    private func stage() -> Stage {
        var settings = ShardSettings.uncoalesced
        (settings.join, settings.watch, settings.asksAccess) = (.none, .none, true)
        return Stage(settings)
    }

    /// Somebody who was let in.
    private func member(
        _ user: UserID = "alice", on stage: Stage, _ answer: AccessAnswer = hour
    ) -> Session {
        let key = stage.enter(user)
        stage.say(.join("c", presence: true), id: "j", on: key)
        stage.askApp { _ in answer }
        #expect(stage.heard(by: key).acks.contains("j"))
        return key
    }

    @Test("a join waits for the answer, with its enter and typing; one without a right is refused, with the reason")
    func asked() {
        let stage = stage()
        let (alice, bob) = (stage.enter("alice"), stage.enter("bob"))
        for key in [alice, bob] {
            stage.say(.join("c", presence: false), id: "j", on: key)
            stage.say(.enter("c", data: nil), id: "e", on: key)
            stage.say(.typing("c", true), id: "t", on: key)
        }
        stage.settle()
        #expect(stage.heard(by: alice).answered.isEmpty && stage.heard(by: bob).answered.isEmpty)
        let asked = stage.askApp { $0.user == "alice" ? Self.hour : .deny(for: .seconds(5)) }
        #expect(asked.sorted() == [question("alice"), question("bob")])
        #expect(Set(stage.heard(by: alice).acks) == ["j", "e", "t"])
        let refused = stage.heard(by: bob)
        #expect(refused.errors == [.notAMember, .notAMember, .notAMember])
        let sentences = refused.compactMap { if case .error(let error) = $0 { error.message } else { nil } }
        #expect(sentences.allSatisfy { $0.contains("access.url") })
        #expect(stage.redis.here["c"]?.keys.sorted() == ["alice"])
    }

    @Test("members decide alone, a token's claim needs no answer, and an empty claim still asks")
    func order() {
        let stage = stage()
        stage.redis.setMembers(["alice": ""], of: "managed")
        let (alice, bob, carol) = (
            stage.enter("alice"), stage.enter("bob", right: .only(["c"])), stage.enter("carol", right: JoinRight.none)
        )
        for key in [alice, bob, carol] {
            stage.say(.join("managed", presence: false), id: "m", on: key)
            stage.say(.join("c", presence: false), id: "c", on: key)
        }
        let asked = stage.askApp { _ in Self.hour }
        #expect(asked.sorted() == [question("alice"), question("carol")])
        #expect(Set(stage.heard(by: alice).acks) == ["m", "c"])
        #expect(stage.heard(by: bob).acks == ["c"] && stage.heard(by: carol).acks == ["c"])
    }

    @Test("who comes back asks nothing, on any worker, and neither does their second device")
    func cached() {
        let stage = stage()
        let first = member(on: stage)
        stage.drop(first)
        let second = stage.enter("alice", "laptop")
        stage.say(.join("c", presence: false), id: "k", on: second)
        stage.settle()
        #expect(stage.heard(by: second).acks.contains("k") && stage.questions.count == 0)
    }

    @Test("an admission is renewed while somebody is there, after a look into Redis, and ends without an answer")
    func renewal() {
        let stage = stage()
        let alice = member(on: stage)
        // Another worker has renewed it.
        stage.pass(.seconds(1700))
        #expect(stage.questions.count == 0)
        _ = stage.redis.write(AccessWrite(question("alice"), Self.hour, sent: stage.redis.time))
        stage.pass(.seconds(1700))
        #expect(stage.questions.count == 0)
        stage.pass(.seconds(1200))
        #expect(stage.questions.count == 1)
        stage.pass(.seconds(690))
        #expect(stage.heard(by: alice).removed.isEmpty)
        stage.pass(.seconds(20))
        #expect(stage.heard(by: alice).removed == ["c"])
        // It waits, and is in once the server answers.
        stage.say(.join("c", presence: false), id: "k", on: alice)
        stage.settle()
        #expect(stage.heard(by: alice).answered.isEmpty)
        #expect(stage.askApp { _ in Self.hour } == [question("alice")])
        #expect(stage.heard(by: alice).acks == ["k"])
    }

    @Test("who comes just before an admission ends waits for the next one, and nobody who waits is refused by its end")
    func justBefore() {
        let stage = stage()
        _ = stage.redis.write(
            AccessWrite(question("alice"), .allow(for: .seconds(4), people: nil), sent: stage.redis.time))
        let late = stage.enter("alice")
        stage.say(.join("c", presence: false), id: "j", on: late)
        stage.settle()
        #expect(stage.heard(by: late).answered.isEmpty)
        #expect(stage.askApp { _ in .allow(for: .seconds(10), people: nil) } == [question("alice")])
        #expect(stage.heard(by: late).acks == ["j"])
        stage.pass(.seconds(9))
        let second = stage.enter("alice", "laptop")
        stage.say(.join("c", presence: false), id: "k", on: second)
        stage.settle()
        #expect(stage.heard(by: second).acks == ["k"], "who is here has asked for it to be renewed")
        let third = stage.enter("alice", "watch")
        stage.redis.dropAccess(of: "nobody", to: "c")
        stage.redis.access["c"]?.value.admitted = [:]
        stage.say(.join("c", presence: false), id: "l", on: third)
        stage.settle()
        stage.pass(.seconds(3))
        #expect(stage.heard(by: late).removed == ["c"] && stage.heard(by: second).removed == ["c"])
        #expect(stage.heard(by: third).answered.isEmpty, "it waits")
        stage.askApp { _ in Self.hour }
        #expect(stage.heard(by: third).acks == ["l"])
    }

    @Test("a renewal that is denied takes everybody out, on other workers too")
    func denied() {
        let stage = stage()
        let alice = member(on: stage)
        _ = stage.redis.write(AccessWrite(question("alice"), .deny(for: .seconds(5)), sent: stage.redis.time))
        stage.settle()
        stage.pass(.milliseconds(1100))
        #expect(stage.askApp { _ in .deny(for: .seconds(5)) } == [question("alice")])
        #expect(stage.heard(by: alice).removed == ["c"])
        #expect(stage.redis.access["c"]?.value.admitted.isEmpty != false)
        stage.say(.join("c", presence: false), id: "k", on: alice)
        stage.settle()
        #expect(
            stage.askApp { _ in
                Issue.record("a denial is not asked for again so soon")
                return nil
            } == [])
        #expect(stage.heard(by: alice).errors == [.notAMember])
    }

    @Test("after a drop the server is asked a second later; who is there stays until it answers, for 30 s at most")
    func dropped() {
        for answer in [Self.hour, .deny(for: .seconds(5)), nil] as [AccessAnswer?] {
            let stage = stage()
            let alice = member(on: stage)
            stage.redis.dropAccess(of: answer == nil ? nil : "alice", to: "c")
            stage.settle()
            #expect(stage.questions.count == 0)
            stage.pass(.milliseconds(1100))
            #expect(stage.questions.count == 1 && stage.heard(by: alice).removed.isEmpty)
            stage.say(.typing("c", true), id: "t", on: alice)
            stage.settle()
            #expect(stage.heard(by: alice).acks == ["t"])
            stage.askApp { _ in answer }
            stage.pass(.seconds(28))
            #expect(stage.heard(by: alice).removed == (answer == .deny(for: .seconds(5)) ? ["c"] : []))
            stage.pass(.seconds(2))
            #expect(stage.heard(by: alice).removed == (answer == nil ? ["c"] : []))
        }
    }

    @Test("a drop right before an admission would end puts nobody out whom the server admits")
    func droppedAtTheEnd() {
        let stage = stage()
        let alice = member(on: stage, .allow(for: .seconds(10), people: nil))
        stage.pass(.milliseconds(9500))
        stage.redis.dropAccess(of: nil, to: "c")
        stage.settle()
        stage.pass(.milliseconds(1100))
        stage.askApp { _ in Self.hour }
        stage.pass(.seconds(40))
        #expect(stage.heard(by: alice).removed.isEmpty)
    }

    @Test("an answer that was on its way counts for nothing after a drop, and neither does one of the second after it")
    func overtaken() throws {
        for isDenied in [false, true] {
            let stage = stage()
            let alice = stage.enter("alice")
            stage.say(.join("c", presence: false), id: "j", on: alice)
            stage.settle()
            let batch = try #require(stage.sendQuestions().first)
            stage.redis.dropAccess(of: "alice", to: "c")
            stage.answer(batch) { _ in isDenied ? .deny(for: .seconds(60)) : Self.hour }
            #expect(stage.heard(by: alice).answered.isEmpty && stage.redis.access["c"]?.value.admitted.isEmpty == true)
            stage.pass(.milliseconds(900))
            #expect(stage.questions.count == 0)
            stage.pass(.milliseconds(1200))
            #expect(stage.askApp { _ in Self.hour } == [question("alice")])
            #expect(stage.heard(by: alice).acks == ["j"])
        }
    }

    @Test("a drop that is heard before the reply to what it undoes is not lost")
    func overtaking() throws {
        let stage = stage()
        let alice = stage.enter("alice")
        stage.say(.join("c", presence: false), id: "j", on: alice)
        stage.settle()
        let batch = try #require(stage.sendQuestions().first)
        for verdict in stage.questions.answered(batch, [question("alice"): Self.hour], at: stage.now) {
            stage.event { $0.answered(verdict, at: $1) }
        }
        let reply = stage.reply(to: stage.asked.removeFirst())
        stage.redis.dropAccess(of: "alice", to: "c")
        stage.hear()
        stage.arrives(reply)
        stage.settle()
        stage.pass(.milliseconds(1200))
        #expect(!stage.heard(by: alice).acks.contains("j"))
        #expect(stage.askApp { _ in .deny(for: .seconds(5)) } == [question("alice")])
        #expect(stage.heard(by: alice).errors == [.notAMember])
    }

    @Test("a drop that is heard before the reply to an earlier read is not lost")
    func overtakingRead() {
        let stage = stage()
        let alice = member(on: stage)
        stage.say(.leave("c"), id: "l", on: alice)
        stage.settle()
        stage.say(.join("c", presence: false), id: "k", on: alice)
        while !stage.unconfirmed.isEmpty { stage.confirm() }
        let reply = stage.reply(to: stage.asked.removeFirst())
        stage.redis.dropAccess(of: nil, to: "c")
        stage.hear()
        stage.arrives(reply)
        stage.settle()
        #expect(!stage.heard(by: alice).acks.contains("k"))
        stage.pass(.milliseconds(1200))
        #expect(stage.askApp { _ in .deny(for: .seconds(5)) } == [question("alice")])
        #expect(stage.heard(by: alice).errors == [.notAMember])
    }

    @Test("where Redis has lost it, an admission stands, is asked for again, and is not written by the worker")
    func emptied() {
        let stage = stage()
        let alice = member(on: stage)
        stage.redis.flush()
        stage.subscriberGoes()
        stage.settle()
        #expect(stage.heard(by: alice).removed.isEmpty && stage.redis.access["c"] == nil)
        // Somebody else of the same name waits for the answer.
        let laptop = stage.enter("alice", "laptop")
        stage.say(.join("c", presence: false), id: "l", on: laptop)
        stage.settle()
        #expect(!stage.heard(by: laptop).acks.contains("l") && stage.questions.count == 1)
        stage.askApp { _ in Self.hour }
        #expect(stage.heard(by: laptop).acks.contains("l"))
        let second = self.stage()
        let bob = member("bob", on: second)
        second.redis.flush()
        second.subscriberGoes()
        second.settle()
        #expect(second.questions.count == 0)
        second.pass(.seconds(900))
        #expect(second.questions.count == 1 && second.heard(by: bob).removed.isEmpty)
        second.pass(.seconds(2705))
        #expect(second.heard(by: bob).removed == ["c"])
    }

    @Test("when the list is deleted, or the token opens less, whoever is there is asked about and stays meanwhile")
    func taken() {
        let stage = stage()
        stage.redis.setMembers(["alice": ""], of: "c")
        let (alice, bob) = (stage.enter("alice"), stage.enter("bob", right: .all))
        for (key, conversation) in [(alice, "c"), (bob, "d")] as [(Session, ConversationID)] {
            stage.say(.join(conversation, presence: false), on: key)
        }
        stage.settle()
        stage.redis.deleteMembers(of: "c")
        let issued = Timestamp(milliseconds: 2_000_000)
        stage.show(Proof(user: "bob", device: "phone", issued: issued, grant: Grant(join: JoinRight.none)), on: bob)
        let asked = stage.askApp { $0.user == "alice" ? Self.hour : .deny(for: .seconds(5)) }
        #expect(asked.sorted() == [question("alice"), AccessQuestion(user: "bob", conversation: "d")])
        #expect(stage.heard(by: alice).removed.isEmpty && stage.heard(by: bob).removed == ["d"])
    }

    @Test("members that are set afterwards decide, whatever was answered before or is asked")
    func managed() {
        let stage = stage()
        let alice = member(on: stage)
        let carol = stage.enter("carol")
        stage.say(.join("c", presence: false), id: "j", on: carol)
        stage.settle()
        stage.redis.setMembers(["bob": ""], of: "c")
        stage.settle()
        #expect(stage.heard(by: alice).removed == ["c"] && stage.heard(by: carol).errors == [.notAMember])
        #expect(stage.withdrawn == [AccessQuestion(user: "carol", conversation: "c")] && stage.questions.count == 0)
    }

    @Test("whom the server names as the people see one another, before and after they join; nobody is told the list")
    func people() {
        let stage = stage()
        let bob = stage.enter("bob")
        stage.settle()
        let alice = member(on: stage, .allow(for: .seconds(3600), people: ["alice", "bob", "carol"]))
        stage.say(.get(["bob"]), id: "g", on: alice)
        stage.say(.get(["dave"]), id: "d", on: alice)
        stage.settle()
        let told = stage.heard(by: alice)
        #expect(told.statuses.contains("bob online") && told.statuses.last == "dave offline")
        #expect(!told.contains { if case .members(let members) = $0 { !members.users.isEmpty } else { false } })
        stage.say(.get(["alice"]), id: "g", on: bob)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice offline"], "bob has not joined")
        stage.redis.dropAccess(of: "bob", to: "c")
        stage.settle()
        stage.say(.get(["bob"]), id: "g", on: alice)
        stage.settle()
        #expect(stage.heard(by: alice).statuses.last == "bob offline")
    }

    @Test("while the server takes its time, who cannot be seen yet is shown as never seen after two seconds")
    func slow() {
        let stage = stage()
        let bob = stage.enter("bob")
        stage.settle()
        let alice = stage.enter("alice")
        stage.say(.join("c", presence: true), id: "j", on: alice)
        stage.say(.watch(["bob"]), on: alice)
        stage.settle()
        stage.pass(.milliseconds(1900))
        #expect(stage.heard(by: alice).statuses.isEmpty)
        stage.pass(.milliseconds(200))
        #expect(stage.heard(by: alice).statuses == ["bob offline"])
        stage.askApp { _ in .allow(for: .seconds(60), people: ["alice", "bob"]) }
        #expect(stage.heard(by: alice).statuses.contains("bob online"))
        _ = bob
    }

    @Test("a narrower token takes back after two seconds at most while the server takes its time")
    func narrowed() {
        let stage = stage()
        _ = stage.enter("bob")
        let alice = stage.enter("alice", issued: Timestamp(milliseconds: 1000), watch: .all)
        stage.say(.join("c", presence: true), on: alice)
        stage.say(.watch(["bob"]), on: alice)
        stage.settle()
        #expect(stage.heard(by: alice).statuses == ["bob online"])
        let proof = Proof(
            user: "alice", device: "phone", issued: Timestamp(milliseconds: 2000), grant: Grant(join: nil, watch: nil))
        stage.show(proof, on: alice)
        stage.pass(.milliseconds(2100))
        #expect(stage.heard(by: alice).statuses == ["bob offline"])
    }

    @Test("who leaves is not asked about any longer, and a question costs its user unless it is allowed")
    func withdrawn() {
        let stage = stage()
        let alice = stage.enter("alice")
        stage.say(.join("c", presence: false), on: alice)
        stage.settle()
        stage.say(.leave("c"), on: alice)
        stage.settle()
        #expect(stage.questions.count == 0 && stage.withdrawn == [question("alice")] && stage.shard.roomCount == 0)
        for room in 0..<40 {
            let conversation = ConversationID(stringLiteral: "r\(room)")
            stage.say(.join(conversation, presence: false), on: alice)
            stage.settle()
        }
        #expect(stage.shard.waitsForBudget(alice), "two hundred at once, and each of them costs six")
    }

    @Test("a write of an answer that fails is made up for")
    func unwritten() throws {
        let stage = stage()
        let alice = stage.enter("alice")
        stage.say(.join("c", presence: false), id: "j", on: alice)
        stage.settle()
        let batch = try #require(stage.sendQuestions().first)
        for verdict in stage.questions.answered(batch, [question("alice"): Self.hour], at: stage.now) {
            stage.event { $0.answered(verdict, at: $1) }
        }
        stage.failAll()
        #expect(stage.heard(by: alice).answered.isEmpty)
        stage.pass(.seconds(3))
        #expect(stage.askApp { _ in Self.hour } == [question("alice")])
        #expect(stage.heard(by: alice).acks == ["j"])
    }

    private func question(_ user: UserID) -> AccessQuestion { AccessQuestion(user: user, conversation: "c") }
}

extension [ServerMessage] {
    fileprivate var removed: [ConversationID] {
        compactMap { if case .removed(let conversation) = $0 { conversation } else { nil } }
    }
}
