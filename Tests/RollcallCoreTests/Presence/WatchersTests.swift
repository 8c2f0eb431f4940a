import Testing

@testable import RollcallCore

@Suite struct WatchersTests {
    @Test("a session stays listed while it has a reason to watch")
    func reasons() {
        let (phone, laptop) = (
            Session(number: 0, peer: AnyDevice(), now: at(.zero)), Session(number: 1, peer: AnyDevice(), now: at(.zero))
        )
        var watchers = Watchers()
        let areFirst = [phone, phone, phone, laptop].map { watchers.insert($0) }
        #expect(areFirst == [true, false, false, true])
        let areLast = [phone, phone, phone].map { watchers.remove($0) }
        #expect(areLast == [false, false, true])
        #expect(watchers.sessions == [laptop])
        let hadNone = watchers.remove(phone)
        let isLast = watchers.remove(laptop)
        #expect(!hadNone && isLast && watchers.isEmpty)
    }
}
