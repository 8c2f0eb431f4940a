import RollcallModel
import Testing

@testable import RollcallCore

@Suite struct NamedTableTests {
    @Test("a value is found by its name and by its key, until it is removed")
    func names() {
        var rooms = NamedTable<Room>()
        let (first, second) = (rooms.insert(Room(conversation: "a")), rooms.insert(Room(conversation: "b")))
        #expect(rooms.key(of: "a") == first && rooms.key(of: "b") == second && rooms.key(of: "c") == nil)
        #expect(rooms.keys == [first, second] && rooms.count == 2)
        #expect(rooms[second]?.conversation == "b")
        let removed = rooms.remove(first)
        #expect(removed?.conversation == "a")
        #expect(rooms.key(of: "a") == nil && rooms[first] == nil && rooms.keys == [second])
        let again = rooms.remove(first)
        #expect(again == nil && rooms.count == 1)
    }

    @Test("a new value of a former name has a new key, and the former key finds nothing")
    func reusedNames() {
        var rooms = NamedTable<Room>()
        let first = rooms.insert(Room(conversation: "a"))
        rooms.remove(first)
        let second = rooms.insert(Room(conversation: "a"))
        #expect(first != second && rooms.key(of: "a") == second)
        let changed = rooms.changeIfPresent(first) { $0.isIncomplete }
        #expect(changed == nil && rooms.read(first) { $0.isIncomplete } == nil)
    }

    @Test("a value is changed in place")
    func changes() {
        var rooms = NamedTable<Room>()
        let key = rooms.insert(Room(conversation: "a"))
        rooms.change(key) { $0.isIncomplete = true }
        rooms.changeIfPresent(key) { $0.phase = .live }
        #expect(rooms[key]?.isIncomplete == true && rooms[key]?.phase == .live)
    }
}
