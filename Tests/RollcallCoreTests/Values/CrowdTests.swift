// Indexed sets and pending joins, with few and with many entries.

import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallCore

@Suite struct CrowdTests {
    private func keys(_ count: Int) -> [Session] {
        (0..<count).map { Session(number: Int32($0), peer: AnyDevice(), now: at(.zero)) }
    }

    @Test("an indexed set has all that were inserted and not removed, each once, in any order")
    func indexedSet() {
        randomised("indexed set") { random in
            let all = keys(60)
            var set = IndexedSet<Session>()
            var expected: Set<Session> = []
            for step in 0..<4000 {
                let key = all.randomElement(using: &random)!
                // Alternately full and empty, so that it changes between its small and large forms.
                if Int.random(in: 0..<10, using: &random) < (step / 500 % 2 == 0 ? 8 : 2) {
                    #expect(set.insert(key) == expected.insert(key).inserted)
                } else {
                    #expect(set.remove(key) == (expected.remove(key) != nil))
                }
                #expect(set.elements.count == expected.count && Set(set.elements) == expected)
                #expect(set.contains(key) == expected.contains(key))
            }
        }
    }

    @Test("waiting sessions are asked about once, in order, and again on request")
    func pendingJoins() {
        let all = keys(3)
        var joins = PendingJoins()
        for (key, user) in zip(all, ["bob", "alice", "bob"] as [UserID]) {
            joins.insert(PendingJoins.Join(session: key, user: user, withPresence: false, withHere: false))
        }
        joins.remove(all[1])
        joins.readAgain(all[0])
        #expect(joins.takeUnread().map(\.session) == [all[0], all[2]])
        #expect(joins.takeUnread().isEmpty)
        joins.readAgain(all[2])
        #expect(joins.of("bob").map(\.isRead) == [true, false])
        #expect(joins.takeUnread().map(\.session) == [all[2]])
        #expect(joins.of("alice").isEmpty && Array(joins.users) == ["bob"] && !joins.isEmpty)
        joins.remove(all[0])
        #expect(joins.remove(all[2])?.user == "bob")
        #expect(joins.isEmpty && joins.users.isEmpty && joins.remove(all[2]) == nil)
    }

    @Test("it knows whether any session waits for the members")
    func members() {
        let key = keys(1)[0]
        var joins = PendingJoins()
        joins.insert(PendingJoins.Join(session: key, user: "bob", withPresence: false, withHere: false))
        #expect(!joins.wantsMembers)
        joins.change(key) { $0.withPresence = true }
        #expect(joins.wantsMembers)
    }
}
