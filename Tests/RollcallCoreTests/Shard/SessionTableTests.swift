import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallCore

@Suite struct SessionTableTests {
    private var table = SessionTable(random: SeededGenerator(seed: 1))
    private let settings = ShardSettings()

    private mutating func connect() -> Session { table.connected(AnyDevice(), at: at(.zero)) }

    private mutating func open(_ user: UserID, _ random: String) -> Session {
        let key = connect()
        table.opened(key, as: DeviceRecorder(name: session(user, "phone", random), opened: at(.zero)))
        return key
    }

    private mutating func lose(_ key: Session) {
        table.lostConnection(key)
        key.isEnding()
    }

    @Test("a session is found by name and by user from its welcome to its removal")
    mutating func indexes() {
        let unknown = connect()
        let (first, second, other) = (open("alice", "s1"), open("alice", "s2"), open("bob", "s3"))
        #expect(table.count == 4 && table.all == [unknown, first, second, other])
        #expect(table.of("alice") == [first, second] && table.of("bob") == [other])
        #expect(table.named(session("alice", "phone", "s2")) == second)
        #expect(table.named(session("bob", "phone", "s2")) == nil, "another user's session has this ID")
        lose(first)
        #expect(table.of("alice") == [first, second], "it lingers")
        table.remove(first)
        #expect(table.of("alice") == [second] && table.named(session("alice", "phone", "s1")) == nil)
        table.remove(unknown)
        #expect(table.all == [second, other] && unknown.isOver)
    }

    @Test("sessions count as open from the welcome to the end of the connection, and linger until they are removed")
    mutating func counts() {
        _ = connect()
        let (first, second) = (open("alice", "s1"), open("bob", "s2"))
        #expect(table.openCount == 2 && table.lingeringCount == 0)
        lose(first)
        #expect(table.openCount == 1 && table.lingeringCount == 1)
        table.remove(first)
        #expect(table.openCount == 1 && table.lingeringCount == 0)
        lose(second)
        table.remove(second)
        #expect(table.openCount == 0 && table.lingeringCount == 0 && table.count == 1)
    }

    @Test("if too many linger, those that have lingered longest are dropped, and none that is over")
    mutating func dropped() {
        var bounds = ShardSettings.Bounds()
        (bounds.lingeringSessions, bounds.lingeringPerOpen) = (2, 0)
        let all = (0..<5).map { open("alice", "s\($0)") }
        for key in all.prefix(2) { lose(key) }
        #expect(table.nextToDrop(bounds) == nil)
        for key in all.dropFirst(2) { lose(key) }
        table.remove(all[0])
        var dropped: [Session] = []
        while let key = table.nextToDrop(bounds) {
            dropped.append(key)
            table.remove(key)
        }
        #expect(dropped == [all[1], all[2]])
        #expect(table.all == [all[3], all[4]])
    }

    @Test("sessions that are over are let go, but for a few")
    mutating func letGo() {
        struct Gone { weak var session: Session? }
        var gone: [Gone] = []
        for number in 0..<500 {
            let session = open("alice", "s\(number)")
            lose(session)
            gone.append(Gone(session: session))
        }
        for kept in [false, true] {
            for session in table.all where session.number.isMultiple(of: 2) == kept { table.remove(session) }
        }
        #expect(table.count == 0 && gone.count { $0.session != nil } <= 64)
    }

    @Test("while the worker drains, each connected session leaves at a moment before the end, as do later ones")
    mutating func drains() {
        let (phone, gone) = (open("alice", "s1"), open("bob", "s2"))
        lose(gone)
        #expect(phone.leaves == nil && table.drawDestination() == nil)
        let ends = at(.seconds(10))
        let leaving = table.drain(Drain(ends: ends, destinations: [Destination("elsewhere")]), at: at(.zero))
        #expect(leaving == [phone] && gone.leaves == nil)
        let late = connect()
        for key in [phone, late] { #expect(key.leaves.map { $0 >= at(.zero) && $0 < ends } == true) }
        #expect(table.drawDestination() == "elsewhere")
    }

    @Test("a new session has the smallest free number, and the next one after a number is found round and round")
    mutating func numbers() {
        let all = (0..<4).map { _ in connect() }
        #expect(all.map(\.number) == [0, 1, 2, 3])
        for gone in [all[2], all[0]] { table.remove(gone) }
        #expect(table.next(after: -1) == all[1] && table.next(after: 1) == all[3] && table.next(after: 3) == all[1])
        let (first, second, third) = (connect(), connect(), connect())
        #expect((first.number, second.number, third.number) == (0, 2, 4))
        for session in table.all { table.remove(session) }
        #expect(table.next(after: 0) == nil)
    }
}
