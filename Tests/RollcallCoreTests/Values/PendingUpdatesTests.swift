import RollcallProtocol
import Testing

@testable import RollcallCore

@Suite struct PendingUpdatesTests {
    private let users: [PendingUpdates.Subject]
    private let room: PendingUpdates.Subject
    private let online = Presence(user: "a", status: .online, lastSeen: nil, updatedAt: nil, version: 1).look

    init() {
        users = (0..<20).map { .user(Watch(user: "a", number: $0, .none)) }
        room = .room(Room(conversation: "c", number: 0))
    }

    private func taken(_ updates: PendingUpdates, _ limit: Int = 100) -> [PendingUpdates.Subject] {
        updates.take(limit, bytes: .max) { _ in 0 }.updates.map(\.subject)
    }

    @Test("a piece ends with the limit, or with the entry that makes it large")
    func pieces() {
        let updates = PendingUpdates()
        for subject in users.prefix(6) { updates.enqueue(subject) }
        let small = updates.take(2, bytes: 100) { _ in 0 }
        #expect(small.updates.count == 2 && small.isFull)
        let large = updates.take(10, bytes: 100) { $0 == users[3] ? 1000 : 1 }
        #expect(large.updates.map(\.subject) == [users[2], users[3]] && large.isFull)
        let rest = updates.take(10, bytes: 100) { _ in 1 }
        #expect(rest.updates.count == 2 && !rest.isFull)
    }

    @Test("entries are taken in order, each once, and one added again comes last")
    func turns() {
        let updates = PendingUpdates()
        for subject in [users[2], room, users[0], room, users[2]] { updates.enqueue(subject) }
        #expect(updates.queue.count == 3)
        let first = taken(updates, 2)
        #expect(first == [users[2], room])
        updates.enqueue(users[2])
        #expect(updates.contains(users[2]) && !updates.contains(room))
        let rest = taken(updates)
        #expect(rest == [users[0], users[2]])
        #expect(updates.isEmpty)
    }

    @Test("an entry that is not known yet keeps its position")
    func unknown() {
        let updates = PendingUpdates()
        for subject in users.prefix(4) { updates.enqueue(subject) }
        let known = updates.take(2, bytes: .max) { $0 != users[0] && $0 != users[2] ? 0 : nil }.updates
        #expect(known.map(\.subject) == [users[1], users[3]])
        updates.enqueue(room)
        #expect(taken(updates) == [users[0], users[2], room])
    }

    @Test("the first missed change has the previous status of a user; a user to be shown in any case has none")
    func seen() {
        let updates = PendingUpdates()
        let first = updates.missed(users[0], seen: online)
        let second = updates.missed(users[0], seen: nil)
        updates.enqueue(users[1])
        let third = updates.missed(users[1], seen: online)
        #expect([first, second, third] == [true, false, false])
        _ = updates.missed(users[2], seen: online)
        updates.enqueue(users[2])
        let taken = updates.take(3, bytes: .max) { _ in 0 }.updates
        #expect(taken.map(\.seen) == [online, nil, nil])
    }

    @Test("an acknowledgement waits for the entries before it, and for none that came later")
    func acks() {
        let updates = PendingUpdates()
        updates.enqueue(users[0])
        updates.ackWhenFlushed("first")
        updates.enqueue(users[1])
        updates.ackWhenFlushed("second")
        updates.enqueue(users[2])
        #expect(updates.takeDueAcks() == [])
        _ = taken(updates, 1)
        // An entry that is added again counts as a later one.
        updates.enqueue(users[0])
        #expect(updates.takeDueAcks() == ["first"])
        updates.cancel(users[1])
        #expect(updates.takeDueAcks() == ["second"])
        #expect(updates.takeDueAcks() == [])
    }

    @Test("a cancelled entry is not shown, and leaves no trace however often it is added and cancelled")
    func cancelled() {
        let updates = PendingUpdates()
        updates.enqueue(room)
        for _ in 0..<10_000 {
            for user in users {
                updates.enqueue(user)
                updates.cancel(user)
            }
        }
        updates.enqueue(users[5])
        #expect(updates.queue.count < 64)
        #expect(taken(updates) == [room, users[5]])
        #expect(updates.isEmpty)
    }

    @Test("it is empty only when nothing at all is kept for the session")
    func empty() {
        let (blocked, gets, acks) = (PendingUpdates(), PendingUpdates(), PendingUpdates())
        blocked.isBlocked = true
        gets.gets = [PendingUpdates.Get(users: [], id: nil)]
        acks.ackWhenFlushed("p")
        #expect(!blocked.isEmpty && !gets.isEmpty && !acks.isEmpty)
        #expect(PendingUpdates().isEmpty)
    }
}

@Suite struct ChangeQueueTests {
    @Test("changes are taken by number, each once, at most a given number at a time")
    func rounds() {
        let keys = (0..<5).map { Session(number: $0, peer: AnyDevice(), now: at(.zero)) }
        var queue = ChangeQueue<Session>()
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
