import RollcallProtocol
import Testing

@testable import RollcallCore

@Suite struct RoomTests {
    private let room = Room(conversation: "c", number: 0)
    private let settings = ShardSettings.Typing()

    private func type(_ count: Int) {
        for number in 0..<count {
            let change = TypingChange(
                user: try! UserID("u\(number)"), typing: true, expiresIn: 3000, at: redis(1000))
            room.typing.typists.changed(change, clock: RedisClock(time: redis(1000), sent: at(.zero)), at: at(.zero))
        }
    }

    @Test("a room waits for both of its channels")
    func topics() {
        #expect(room.phase == .subscribing(missing: [.typing("c"), .members("c")]))
        #expect(Set(room.topics) == [.typing("c"), .members("c")])
    }

    @Test("it is unused when no session has joined it or waits to")
    func deserted() {
        let key = Session(number: 0, peer: AnyDevice(), now: at(.zero))
        #expect(room.isDeserted)
        room.joined(key)
        #expect(!room.isDeserted)
        room.left(key)
        room.pendingJoins.insert(PendingJoins.Join(session: key, user: "alice", withPresence: false, withHere: false))
        #expect(!room.isDeserted)
    }

    @Test("with few typing users, a change is sent at once, however recent the last one")
    func fewType() {
        type(10)
        room.typing.told([], toAll: true, at: at(.seconds(1)))
        #expect(room.typing.mayTell(at: at(.seconds(1)), settings: settings) == at(.seconds(1)))
    }

    @Test("with many typing users, now or at the last update, changes wait for the rest of the period")
    func manyType() {
        type(11)
        #expect(room.typing.mayTell(at: at(.seconds(1)), settings: settings) == at(.seconds(1)), "nothing was told yet")
        room.typing.told([], toAll: true, at: at(.seconds(1)))
        let next = at(.milliseconds(1250))
        #expect(room.typing.mayTell(at: at(.milliseconds(1100)), settings: settings) == next)
        #expect(room.typing.mayTell(at: at(.seconds(2)), settings: settings) == at(.seconds(2)))
        room.typing.told(room.typing.typists.typists, toAll: true, at: at(.seconds(1)))
        room.typing.typists = TypistSet()
        #expect(room.typing.mayTell(at: at(.milliseconds(1100)), settings: settings) == next)
    }

    @Test("a set is repeated one expiry after the last update to all, an empty set never")
    func repeats() {
        room.typing.told([Typist(user: "alice")], toAll: false, at: at(.zero))
        #expect(room.typing.nextRepeat(after: .seconds(3)) == nil)
        room.typing.told([], toAll: true, at: at(.seconds(1)))
        #expect(room.typing.nextRepeat(after: .seconds(3)) == nil)
        room.typing.told([Typist(user: "alice")], toAll: true, at: at(.seconds(1)))
        #expect(room.typing.nextRepeat(after: .seconds(3)) == at(.seconds(4)))
        room.typing.told(room.typing.told, toAll: false, at: at(.seconds(2)))
        #expect(room.typing.nextRepeat(after: .seconds(3)) == at(.seconds(4)), "not all were told then")
    }

    @Test("a message names a limited number, in order, counts all, and leaves out its receiver's user")
    func message() {
        let typists = ["alice", "bob", "carol"].map { Typist(user: $0) } as [Typist]
        #expect(
            ServerMessage.typing(in: "c", of: typists, but: "alice", names: 1)
                == .typing(.init(conversation: "c", users: [Typist(user: "bob")], count: 2)))
        #expect(
            ServerMessage.typing(in: "c", of: typists, but: nil, names: 5)
                == .typing(.init(conversation: "c", users: typists, count: 3)))
    }
}
