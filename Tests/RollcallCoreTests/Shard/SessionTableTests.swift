import RollcallModel
import TestSupport
import Testing

@testable import RollcallCore

@Suite struct SessionTableTests {
    private var table = SessionTable(random: SeededGenerator(seed: 1))
    private let settings = ShardSettings()

    private mutating func connect() -> SessionKey { table.connected(at: at(.zero)) }

    private mutating func open(_ user: UserID, _ random: String) -> SessionKey {
        let key = connect()
        table.opened(key, as: DeviceRecorder(name: session(user, "phone", random), opened: at(.zero)))
        return key
    }

    private mutating func lose(_ key: SessionKey) {
        table.lostConnection(key)
        table.change(key) { $0.phase = .ending }
    }

    @Test("a session is found by name and by user from its welcome to its removal")
    mutating func indexes() {
        let unknown = connect()
        let (first, second, other) = (open("alice", "s1"), open("alice", "s2"), open("bob", "s3"))
        #expect(table.count == 4 && table.keys == [unknown, first, second, other])
        #expect(table.keys(of: "alice") == [first, second] && table.keys(of: "bob") == [other])
        #expect(table.key(of: session("alice", "phone", "s2")) == second)
        #expect(table.key(of: session("bob", "phone", "s2")) == nil, "another user's session has this ID")
        lose(first)
        #expect(table.keys(of: "alice") == [first, second], "it lingers")
        table.remove(first)
        #expect(table.keys(of: "alice") == [second] && table.key(of: session("alice", "phone", "s1")) == nil)
        table.remove(unknown)
        #expect(table.keys == [second, other] && table[unknown] == nil)
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
        var dropped: [SessionKey] = []
        while let key = table.nextToDrop(bounds) {
            dropped.append(key)
            table.remove(key)
        }
        #expect(dropped == [all[1], all[2]])
        #expect(table.keys == [all[3], all[4]])
    }

    @Test("while the worker drains, each connected session leaves at a moment before the end, as do later ones")
    mutating func drains() {
        let (phone, gone) = (open("alice", "s1"), open("bob", "s2"))
        lose(gone)
        #expect(table[phone]?.leaves == nil && table.drawDestination() == nil)
        let ends = at(.seconds(10))
        let leaving = table.drain(Drain(ends: ends, destinations: ["elsewhere"]), at: at(.zero))
        #expect(leaving == [phone] && table[gone]?.leaves == nil)
        let late = connect()
        for key in [phone, late] { #expect(table[key]?.leaves.map { $0 >= at(.zero) && $0 < ends } == true) }
        #expect(table.drawDestination() == "elsewhere")
    }

    @Test("a session that has been removed is not changed")
    mutating func removed() {
        let key = connect()
        table.remove(key)
        let changed = table.changeIfPresent(key) { $0.isConnected }
        #expect(changed == nil && table.read(key) { $0.isConnected } == nil)
    }
}
