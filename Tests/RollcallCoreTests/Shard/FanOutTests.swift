import RollcallProtocol
import Testing

@testable import RollcallCore

@Suite struct FanOutTests {
    private let sessions: [Session]
    private let users: [PendingUpdates.Subject]
    private var fanOut = FanOut()

    init() {
        sessions = (0..<3).map { Session(number: $0, peer: AnyDevice(), now: at(.zero)) }
        users = (0..<4).map { .user(Watch(user: try! UserID("u\($0)"), number: $0)) }
    }

    private mutating func piece(_ key: Session, _ limit: Int = 10) -> FanOut.Piece? {
        fanOut.takePiece(for: key, limit: limit) { _ in true }
    }

    @Test("while no session has pending updates, all receivers get a change now")
    mutating func allReady() {
        #expect(fanOut.receivers(sessions, of: users[0], seen: nil) == nil)
    }

    @Test("a session that is behind is skipped, and one that is about to be sent the subject gets the newest state")
    mutating func divided() {
        fanOut.fellBehind(sessions[0])
        fanOut.enqueue([users[0]], for: sessions[1])
        let first = fanOut.receivers(sessions, of: users[0], seen: nil)
        #expect(first == FanOut.Receivers(ready: [sessions[2]], skipped: [sessions[0]], conflated: 1))
        let second = fanOut.receivers(sessions, of: users[0], seen: nil)
        #expect(second?.conflated == 2, "the former change of the one that is behind was not sent either")
        let other = fanOut.receivers(sessions, of: users[1], seen: nil)
        #expect(other == FanOut.Receivers(ready: [sessions[1], sessions[2]], skipped: [sessions[0]]))
    }

    @Test("a session that is behind gets its updates and its `get`s once it has caught up")
    mutating func caughtUp() {
        let get = PendingUpdates.Get(users: ["alice"], id: "g")
        #expect(fanOut.postpone(get, of: sessions[0]) == false)
        fanOut.fellBehind(sessions[0])
        #expect(fanOut.postpone(get, of: sessions[0]) == true)
        fanOut.enqueue([users[0]], for: sessions[0])
        #expect(fanOut.takeDue() == [sessions[0]])
        #expect(piece(sessions[0])?.updates == [])
        #expect(fanOut.caughtUp(sessions[0]) == [get])
        #expect(fanOut.takeDue() == [sessions[0]] && fanOut.takeDue().isEmpty)
        #expect(piece(sessions[0])?.updates.map(\.subject) == [users[0]])
        #expect(fanOut.pendingCount == 0 && fanOut.caughtUp(sessions[0]).isEmpty)
    }

    @Test("a full piece is followed by the next once it was flushed; acknowledgements follow what they cover")
    mutating func pieces() {
        fanOut.enqueue(users, for: sessions[0])
        #expect(fanOut.ackWhenFlushed("a", for: sessions[0]) == true)
        #expect(fanOut.ackCount(of: sessions[0]) == 1)
        let first = piece(sessions[0], 3)
        #expect(first?.updates.map(\.subject) == Array(users.prefix(3)) && first?.isFull == true && first?.acks == [])
        #expect(piece(sessions[0], 3)?.updates == [], "the first is not flushed")
        _ = fanOut.caughtUp(sessions[0])
        let second = piece(sessions[0], 3)
        #expect(second?.updates.map(\.subject) == [users[3]] && second?.isFull == false && second?.acks == ["a"])
        #expect(fanOut.ackWhenFlushed("b", for: sessions[0]) == false, "nothing waits")
    }

    @Test("a session that ends, or stops following a subject, is sent nothing about it")
    mutating func forgotten() {
        fanOut.enqueue([users[0], users[1]], for: sessions[0])
        fanOut.enqueue([users[0]], for: sessions[1])
        _ = fanOut.ackWhenFlushed("a", for: sessions[1])
        fanOut.cancel(users[0], for: sessions[0])
        fanOut.cancel(users[0], for: sessions[1])
        fanOut.cancel(users[0], for: sessions[2])
        #expect(fanOut.takeDueAcks(of: sessions[1]) == ["a"] && fanOut.takeDueAcks(of: sessions[2]) == [])
        #expect(piece(sessions[0])?.updates.map(\.subject) == [users[1]])
        fanOut.enqueue([users[0]], for: sessions[2])
        fanOut.forget(sessions[2])
        #expect(piece(sessions[2]) == nil)
    }

    @Test("changes are counted until they are taken")
    mutating func changes() {
        guard case .user(let user) = users[0] else { return }
        #expect(!fanOut.hasChanges)
        fanOut.presence.insert(user)
        fanOut.presence.insert(user)
        #expect(fanOut.hasChanges && fanOut.changeCount == 1)
        #expect(fanOut.presence.take(5) == [user])
        #expect(!fanOut.hasChanges && fanOut.changeCount == 0)
    }
}
