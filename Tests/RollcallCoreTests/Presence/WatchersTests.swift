import Testing

@testable import RollcallCore

@Suite struct WatchersTests {
    @Test("a session stays listed while it has a reason to watch")
    func reasons() {
        var sessions = SlotMap<Int>()
        let (phone, laptop) = (SessionKey(sessions.insert(1)), SessionKey(sessions.insert(2)))
        var watchers = Watchers()
        let areFirst = [phone, phone, phone, laptop].map { watchers.insert($0) }
        #expect(areFirst == [true, false, false, true])
        let areLast = [phone, phone, phone].map { watchers.remove($0) }
        #expect(areLast == [false, false, true])
        #expect(watchers.keys == [laptop])
        let hadNone = watchers.remove(phone)
        let isLast = watchers.remove(laptop)
        #expect(!hadNone && isLast && watchers.isEmpty)
    }
}

extension SessionKey {
    fileprivate init(_ key: SlotKey<Int>) {
        self.init(index: key.index, generation: key.generation)
    }
}
