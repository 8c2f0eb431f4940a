import RollcallModel
import Testing

@testable import RollcallCore

@Suite struct BacklogTests {
    private let users: [Backlog.Subject]
    private let room: Backlog.Subject
    private let online = Presence(user: "a", status: .online, lastSeen: nil, updatedAt: nil, version: 1).look

    init() {
        var watches = SlotMap<Watch>()
        users = (0..<20).map { _ in .user(watches.insert(Watch(user: "a"))) }
        var rooms = SlotMap<Room>()
        room = .room(rooms.insert(Room(conversation: "c")))
    }

    private func taken(_ backlog: inout Backlog, _ limit: Int = 100) -> [Backlog.Subject] {
        backlog.take(limit) { _ in true }.map(\.subject)
    }

    @Test("entries are taken in order, each once, and one added again comes last")
    func turns() {
        var backlog = Backlog()
        for subject in [users[2], room, users[0], room, users[2]] { backlog.owe(subject) }
        #expect(backlog.queue.count == 3)
        let first = taken(&backlog, 2)
        #expect(first == [users[2], room])
        backlog.owe(users[2])
        #expect(backlog.owes(users[2]) && !backlog.owes(room))
        let rest = taken(&backlog)
        #expect(rest == [users[0], users[2]])
        #expect(backlog.isEmpty)
    }

    @Test("an entry that is not known yet keeps its position")
    func unknown() {
        var backlog = Backlog()
        for subject in users.prefix(4) { backlog.owe(subject) }
        let known = backlog.take(2) { $0 != users[0] && $0 != users[2] }
        #expect(known.map(\.subject) == [users[1], users[3]])
        backlog.owe(room)
        #expect(taken(&backlog) == [users[0], users[2], room])
    }

    @Test("the first missed change has the previous status of a user; a user to be shown in any case has none")
    func seen() {
        var backlog = Backlog()
        let first = backlog.missed(users[0], seen: online)
        let second = backlog.missed(users[0], seen: nil)
        backlog.owe(users[1])
        let third = backlog.missed(users[1], seen: online)
        #expect([first, second, third] == [true, false, false])
        _ = backlog.missed(users[2], seen: online)
        backlog.owe(users[2])
        let taken = backlog.take(3) { _ in true }
        #expect(taken.map(\.seen) == [online, nil, nil])
    }

    @Test("an acknowledgement waits for the entries before it, and for none that came later")
    func promises() {
        var backlog = Backlog()
        backlog.owe(users[0])
        backlog.promise("first")
        backlog.owe(users[1])
        backlog.promise("second")
        backlog.owe(users[2])
        #expect(backlog.takeKeptPromises() == [])
        _ = taken(&backlog, 1)
        // An entry that is added again counts as a later one.
        backlog.owe(users[0])
        #expect(backlog.takeKeptPromises() == ["first"])
        backlog.forgive(users[1])
        #expect(backlog.takeKeptPromises() == ["second"])
        #expect(backlog.takeKeptPromises() == [])
    }

    @Test("a cancelled entry is not shown, and leaves no trace however often it is added and cancelled")
    func forgiven() {
        var backlog = Backlog()
        backlog.owe(room)
        for _ in 0..<10_000 {
            for user in users {
                backlog.owe(user)
                backlog.forgive(user)
            }
        }
        backlog.owe(users[5])
        #expect(backlog.queue.count < 64)
        #expect(taken(&backlog) == [room, users[5]])
        #expect(backlog.isEmpty)
    }

    @Test("it is empty only when nothing at all is kept for the session")
    func empty() {
        var (held, asks, promises) = (Backlog(), Backlog(), Backlog())
        held.isHeld = true
        asks.gets = [Backlog.Get(users: [], id: nil)]
        promises.promise("p")
        #expect(!held.isEmpty && !asks.isEmpty && !promises.isEmpty)
        #expect(Backlog().isEmpty)
    }
}

@Suite struct ChangeQueueTests {
    @Test("changes are taken in the order of their slots, each once, at most a given number at a time")
    func rounds() {
        var slots = SlotMap<Int>()
        let keys = (0..<5).map { slots.insert($0) }
        var queue = ChangeQueue<Int>()
        #expect(queue.isEmpty)
        for index in [4, 1, 3, 1, 0] { queue.insert(keys[index]) }
        #expect(queue.take(2) == [keys[0], keys[1]])
        // The current round ends before later changes are taken.
        queue.insert(keys[0])
        #expect(queue.take(9) == [keys[3], keys[4]])
        #expect(!queue.isEmpty)
        #expect(queue.take(9) == [keys[0]])
        #expect(queue.isEmpty)
    }
}
