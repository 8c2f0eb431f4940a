// Rosters and lobbies, with few and with many entries.

import RollcallModel
import TestSupport
import Testing

@testable import RollcallCore

@Suite struct CrowdTests {
    private func keys(_ count: Int) -> [SessionKey] {
        var sessions = SlotMap<Session>()
        return (0..<count).map { _ in sessions.insert(Session(now: at(.zero), settings: ShardSettings())) }
    }

    @Test("a roster has all that were inserted and not removed, each once, in any order")
    func roster() {
        randomised("roster") { random in
            let all = keys(60)
            var roster = Roster<Session>()
            var expected: Set<SessionKey> = []
            for step in 0..<4000 {
                let key = all.randomElement(using: &random)!
                // Alternately full and empty, so that it changes between its small and large forms.
                if Int.random(in: 0..<10, using: &random) < (step / 500 % 2 == 0 ? 8 : 2) {
                    #expect(roster.insert(key) == expected.insert(key).inserted)
                } else {
                    #expect(roster.remove(key) == (expected.remove(key) != nil))
                }
                #expect(roster.keys.count == expected.count && Set(roster.keys) == expected)
                #expect(roster.contains(key) == expected.contains(key))
            }
        }
    }

    @Test("waiting sessions are asked about once, in order, and again on request")
    func lobby() {
        let all = keys(3)
        var lobby = Lobby()
        for (key, user) in zip(all, ["bob", "alice", "bob"] as [UserID]) {
            lobby.insert(Lobby.Waiting(session: key, user: user, withPresence: false, since: at(.zero)))
        }
        lobby.remove(all[1])
        lobby.readAgain(all[0])
        #expect(lobby.takeUnread().map(\.session) == [all[0], all[2]])
        #expect(lobby.takeUnread().isEmpty)
        lobby.readAgain(all[2])
        #expect(lobby.of("bob").map(\.isRead) == [true, false])
        #expect(lobby.takeUnread().map(\.session) == [all[2]])
        #expect(lobby.of("alice").isEmpty && Array(lobby.users) == ["bob"] && !lobby.isEmpty)
        lobby.remove(all[0])
        #expect(lobby.remove(all[2])?.user == "bob")
        #expect(lobby.isEmpty && lobby.users.isEmpty && lobby.remove(all[2]) == nil)
    }

    @Test("it knows whether any session waits for the members")
    func members() {
        let key = keys(1)[0]
        var lobby = Lobby()
        lobby.insert(Lobby.Waiting(session: key, user: "bob", withPresence: false, since: at(.zero)))
        #expect(!lobby.wantsMembers)
        lobby[key]?.withPresence = true
        #expect(lobby.wantsMembers)
    }
}
