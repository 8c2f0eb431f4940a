import RedisTwin
import RollcallProtocol
import Testing

@testable import RollcallCore

/// Objects of a shard, as long as something keeps them alive.
private struct Weakly {
    weak var object: AnyObject?
}

@Suite struct LifetimeTests {
    /// Two users meet in a conversation with members, watch each other, type, fall behind, and leave: by a goodbye, a lost
    /// connection, or because another session replaces theirs.
    @Test("nothing keeps a session, a room or a watch alive that is over", arguments: 0..<3)
    func nothingStays(way: Int) {
        var all: [Weakly] = []
        let stage = Stage()
        do {
            stage.redis.setMembers(["alice": "Alice", "bob": "Bob"], of: "c")
            let sessions = [stage.enter("alice"), stage.enter("bob")]
            for session in sessions {
                stage.say(.join("c", presence: true), id: "j", on: session)
                stage.say(.watch(["alice", "bob", "carol"]), on: session)
            }
            stage.settle()
            stage.say(.typing("c", true), on: sessions[0])
            stage.stall(sessions[1])
            stage.say(.state(.idle), on: sessions[0])
            stage.say(.get(["alice"]), id: "g", on: sessions[1])
            all += sessions.map(Weakly.init) + stage.shard.conversations.all.map(Weakly.init)
            all += (["alice", "bob", "carol"] as [UserID]).compactMap(stage.shard.watches.watched).map(Weakly.init)
            for session in sessions {
                switch way {
                case 0: stage.say(.goodbye, on: session)
                case 1: stage.drop(session)
                default: stage.event { $0.end(session, .replaced, at: $1) }
                }
            }
        }
        stage.pass(.seconds(30))
        stage.forgetClients()
        #expect(stage.leftovers.isEmpty && all.count >= 6)
        #expect(all.filter { $0.object != nil }.isEmpty)
    }
}
