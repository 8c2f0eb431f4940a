import RollcallProtocol
import Testing

@testable import RollcallCore

@Suite struct DirectoryTests {
    private var rooms = Directory<ConversationID, Room>()

    private mutating func insert(_ conversation: ConversationID) -> Room {
        rooms.insert(conversation) { Room(conversation: conversation, number: $0) }
    }

    @Test("an object is found by its name until it is removed, and all are in the order of their numbers")
    mutating func names() {
        let (first, second) = (insert("b"), insert("a"))
        #expect(rooms["b"] === first && rooms["a"] === second && rooms["c"] == nil)
        #expect(rooms.all == [first, second] && rooms.count == 2)
        rooms.remove("b")
        #expect(rooms["b"] == nil && rooms.all == [second])
    }

    @Test("a new object has the smallest free number, in whatever order they were freed")
    mutating func numbers() {
        let all = (["a", "b", "c", "d"] as [ConversationID]).map { insert($0) }
        #expect(all.map(\.number) == [0, 1, 2, 3])
        for name in ["d", "a", "c"] as [ConversationID] { rooms.remove(name) }
        #expect((insert("e").number, insert("f").number, insert("g").number, insert("h").number) == (0, 2, 3, 4))
    }
}
