// The members of a conversation, as shown to sessions that joined with presence.

import RedisTwin
import RollcallProtocol
import Testing

@testable import RollcallCore

@Suite struct MembersStories {
    private func stage(_ members: [UserID: String]) -> Stage {
        let stage = Stage()
        stage.redis.setMembers(members, of: "c42")
        return stage
    }

    @Test("a join with presence sends the members, and then the presence of those who are online")
    func snapshot() {
        let stage = stage(["alice": "Alice", "bob": "Bob"])
        let bob = stage.enter("bob")
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.say(.join("c42", presence: true), id: "j", on: bob)
        stage.settle()
        let heard = stage.heard(by: bob)
        let list = heard.firstIndex(of: .members("Alice", "Bob"))
        let first = heard.firstIndex { if case .presence = $0 { true } else { false } }
        #expect(list != nil && list! < first!)
        #expect(Set(heard.statuses) == ["alice offline", "bob online"])
        #expect(heard.last == .ack("j"))
    }

    @Test("added, renamed and removed members are sent as a whole list, once a tick")
    func changes() {
        let stage = stage(["alice": "Alice", "bob": "Bob"])
        let bob = stage.enter("bob")
        stage.say(.join("c42", presence: true), on: bob)
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.redis.setMember("carol", name: "Carol", of: "c42")
        stage.settle()
        let heard = stage.heard(by: bob)
        #expect(heard.first == .members("Alice", "Bob", "Carol"))
        #expect(heard.statuses == ["carol offline"])
        stage.forgetWhatWasSaid()
        stage.redis.setMember("alice", name: "Alicia", of: "c42")
        stage.settle()
        stage.redis.removeMember("carol", of: "c42")
        stage.settle()
        #expect(
            stage.heard(by: bob) == [
                .members(["alice": "Alicia", "bob": "Bob", "carol": "Carol"]),
                .members(["alice": "Alicia", "bob": "Bob"]),
            ])
        _ = stage.enter("carol")
        stage.settle()
        #expect(stage.heard(by: bob).statuses.isEmpty, "she is watched no more")
    }

    @Test("a read of one user's membership that is older than a change removes no member from the list")
    func staleMembership() {
        let stage = stage(["alice": "Alice"])
        let alice = stage.enter("alice")
        stage.say(.join("c42", presence: true), on: alice)
        let bob = stage.enter("bob")
        stage.settle()
        stage.say(.join("c42", presence: false), on: bob)
        let read = stage.reply(to: stage.asked.removeFirst())
        stage.redis.setMember("bob", name: "Bob", of: "c42")
        stage.hear()
        stage.arrives(read)
        stage.redis.setMember("carol", name: "Carol", of: "c42")
        stage.settle()
        #expect(stage.heard(by: alice).lists.last == .members("Alice", "Bob", "Carol"))
    }

    @Test("a member watched for another reason is sent again, since the list is new")
    func watchedBefore() {
        let stage = stage(["alice": "Alice", "bob": "Bob"])
        let bob = stage.enter("bob")
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.say(.join("c42", presence: true), on: bob)
        stage.settle()
        #expect(Set(stage.heard(by: bob).statuses) == ["alice offline", "bob online"])
    }

    @Test("a join without presence ends the list, one with presence starts it again, and the last join counts")
    func wishes() {
        let stage = stage(["alice": "Alice", "bob": "Bob"])
        let bob = stage.enter("bob")
        stage.say(.join("c42", presence: true), on: bob)
        stage.say(.join("c42", presence: false), on: bob)
        stage.settle()
        #expect(stage.heard(by: bob).lists.isEmpty)
        stage.say(.join("c42", presence: true), on: bob)
        stage.settle()
        #expect(stage.heard(by: bob).lists == [.members("Alice", "Bob")])
        stage.forgetWhatWasSaid()
        stage.say(.join("c42", presence: false), id: "end", on: bob)
        _ = stage.enter("alice")
        stage.redis.setMember("carol", name: "Carol", of: "c42")
        stage.settle()
        let end = stage.heard(by: bob)
        #expect(end.lists.isEmpty && end.statuses.isEmpty && end.contains(.ack("end")))
        stage.say(.join("c42", presence: true), on: bob)
        stage.settle()
        let again = stage.heard(by: bob)
        #expect(again.lists == [.members("Alice", "Bob", "Carol")])
        #expect(again.statuses.contains("alice online"))
    }

    @Test("of a very large conversation, as many members are listed as may be watched; the count is exact")
    func veryLarge() {
        var settings = ShardSettings.uncoalesced
        settings.limits.watchedUsers = 2
        let stage = Stage(settings)
        stage.redis.setMembers(["a": "A", "b": "B", "c": "C"], of: "c42")
        let c = stage.enter("c")
        stage.say(.join("c42", presence: true), on: c)
        stage.settle()
        let heard = stage.heard(by: c)
        #expect(heard.lists == [.members(["a": "A", "b": "B"], count: 3)])
        #expect(heard.statuses == ["a offline", "b offline"])
        stage.forgetWhatWasSaid()
        stage.redis.removeMember("a", of: "c42")
        stage.settle()
        let after = stage.heard(by: c)
        #expect(after.lists.last == .members(["b": "B", "c": "C"], count: 2))
        #expect(after.statuses == ["c online"])
    }

    @Test("a conversation without members has no list until they are set")
    func unmanaged() {
        let stage = Stage()
        let bob = stage.enter("bob")
        stage.say(.join("c42", presence: true), on: bob)
        stage.settle()
        #expect(stage.heard(by: bob).lists == [.members([:])])
        stage.redis.setMembers(["bob": "Bob"], of: "c42")
        stage.settle()
        #expect(stage.heard(by: bob).lists.last == .members("Bob"))
    }

    @Test("a long list that changes often is sent at most once a coalescing period, in its current state")
    func coalesced() {
        let names = (0..<20).map { "m\($0)" }
        let stage = stage(Dictionary(uniqueKeysWithValues: names.map { (try! UserID($0), $0) }))
        let reader = stage.enter("m0")
        stage.say(.join("c42", presence: true), on: reader)
        stage.settle()
        stage.forgetWhatWasSaid()
        for number in 1...9 {
            stage.redis.setMember(try! UserID("x\(number)"), name: "X", of: "c42")
            stage.settle()
        }
        #expect(stage.heard(by: reader).lists.count == 1)
        stage.pass(.milliseconds(250))
        let later = stage.heard(by: reader).lists
        #expect(later.map(\.memberCount) == [29])
    }
}

extension ServerMessage {
    /// Members whose identifiers are their names in lower case.
    fileprivate static func members(_ names: String...) -> Self {
        members(Dictionary(uniqueKeysWithValues: names.map { (try! UserID($0.lowercased()), $0) }))
    }

    fileprivate static func members(_ names: [UserID: String], count: Int? = nil) -> Self {
        let users = names.keys.sorted().map { Member(user: $0, name: names[$0].map(ByteString.init)) }
        return .members(Members(conversation: "c42", users: users, count: count ?? users.count))
    }

    fileprivate var memberCount: Int? {
        if case .members(let members) = self { members.count } else { nil }
    }
}

extension [ServerMessage] {
    fileprivate var lists: [ServerMessage] { filter { $0.memberCount != nil } }
}
