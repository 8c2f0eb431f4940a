import RollcallProtocol
import Testing

@testable import RollcallCore

@Suite struct BusiestConversationStories {
    private func conversation(_ name: String, typing: Int, joined: Int) -> BusyConversation {
        BusyConversation(conversation: try! ConversationID(name), typing: typing, joined: joined)
    }

    @Test("the busiest conversations come first, and those in which no user types are left out")
    func busiest() {
        let stage = Stage()
        let users = ["alice", "bob", "carol"].map { stage.enter($0) }
        for key in users {
            for name in ["b", "quiet", "a", "busy"] {
                stage.say(.join(try! ConversationID(name), presence: false), on: key)
            }
        }
        stage.settle()
        for key in users.prefix(2) { stage.say(.typing("busy", true), on: key) }
        for name in ["b", "a"] { stage.say(.typing(try! ConversationID(name), true), on: users[2]) }
        stage.settle()
        #expect(
            stage.shard.busiest(2, at: stage.now)
                == [conversation("busy", typing: 2, joined: 3), conversation("a", typing: 1, joined: 3)])
        stage.pass(.seconds(4))
        #expect(stage.shard.busiest(2, at: stage.now) == [])
    }

    @Test("the views of several shards are combined: all know who types, each knows who joined through it")
    func merged() {
        let first = [conversation("a", typing: 3, joined: 2), conversation("b", typing: 1, joined: 1)]
        let second = [conversation("a", typing: 3, joined: 5), conversation("c", typing: 2, joined: 1)]
        #expect(
            BusyConversation.busiest(2, of: [first, second])
                == [conversation("a", typing: 3, joined: 7), conversation("c", typing: 2, joined: 1)])
    }
}
