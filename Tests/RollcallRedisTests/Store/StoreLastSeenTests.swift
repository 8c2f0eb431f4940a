// The time at which a user was last present: with a device that was active or idle, until its connection was lost.

import RollcallModel
import RollcallRedis
import Testing

@Suite(.serialized) struct StoreLastSeenTests {
    private let longAgo = Timestamp(milliseconds: 1000)

    /// A record of one hour ago, so that changes by a write differ from the time of the write.
    private func store(planted record: String, lastSeen: Timestamp? = nil) async throws -> StoreUnderTest {
        let store = try await StoreUnderTest()
        try await store.plant(record)
        if let lastSeen {
            try await store.command("HSET", "presence:{alice}", "last_seen", "\(lastSeen.milliseconds)")
        }
        return store
    }

    private func lastSeen(_ store: StoreUnderTest) async throws -> Timestamp? {
        try await store.record(of: alice).lastSeen
    }

    @Test(arguments: [DeviceState.active, .idle]) func aDeviceInUseIsSeenNow(state: DeviceState) async throws {
        let store = try await StoreUnderTest()
        let written = try await store.write(Session("aa").says(state, 1))
        #expect(try await lastSeen(store) == written.time)
    }

    @Test func aDeviceInTheBackgroundTellsOfNobody() async throws {
        let store = try await StoreUnderTest()
        try await store.write(Session("aa").says(.background, 1))
        #expect(try await lastSeen(store) == nil)
    }

    @Test(arguments: [DeviceState.background, nil])
    func aDeviceWasInUseUntilItSaysOtherwise(next: DeviceState?) async throws {
        let store = try await store(planted: "idle w1.aaaa 1000-aa 1 1000 0")
        let written = try await store.write(Session("aa", began: longAgo).says(next, 2))
        #expect(try await lastSeen(store) == written.time)
    }

    @Test func whoLeavesFromTheBackgroundWasNotSeenThen() async throws {
        let store = try await store(planted: "background w1.aaaa 1000-aa 1 1000 0", lastSeen: longAgo)
        try await store.write(Session("aa", began: longAgo).says(nil, 2))
        #expect(try await lastSeen(store) == longAgo)
    }

    @Test func aLostConnectionWasInUseUntilItsLastByte() async throws {
        let store = try await store(planted: "active w1.aaaa 1000-aa 1 1000 0")
        let lost = try await store.now().advanced(by: .seconds(-20))
        try await store.write(Session("aa", began: longAgo).says(.active, 2, lost: lost))
        #expect(try await lastSeen(store) == lost)
        #expect(try await store.record(of: alice).devices[phone]?.lost == lost)

        try await store.write(Session("aa", began: longAgo).says(nil, 3))
        #expect(try await lastSeen(store) == lost, "the end of grace is nobody's presence")
    }

    @Test func aRemovalThatIsOwedTellsWhenTheDeviceWasLost() async throws {
        let store = try await store(planted: "active w1.aaaa 1000-aa 1 1000 0")
        let lost = try await store.now().advanced(by: .seconds(-300))
        try await store.write(Session("aa", began: longAgo).says(nil, 2, lost: lost))
        #expect(try await lastSeen(store) == lost)
    }

    /// What the device sent while Redis was away was never written; in the record, it is still in the background.
    @Test func aRemovalTellsOfSomebodyWhomTheRecordDoesNotKnow() async throws {
        let store = try await store(planted: "background w1.aaaa 1000-aa 1 1000 0", lastSeen: longAgo)
        let last = try await store.now().advanced(by: .seconds(-30))
        try await store.write(Session("aa", began: longAgo).says(nil, 3, lost: last))
        #expect(try await lastSeen(store) == last)
    }

    @Test func aRemovalFromAnEmptiedRedisTellsWhenSomebodyWasThere() async throws {
        let store = try await StoreUnderTest()
        let last = try await store.now().advanced(by: .seconds(-30))
        try await store.write(Session("aa", began: longAgo).says(nil, 3, lost: last))
        #expect(try await lastSeen(store) == last)
    }

    @Test func aLossFromTheFutureIsNow() async throws {
        let store = try await store(planted: "active w1.aaaa 1000-aa 1 1000 0")
        let lost = try await store.now().advanced(by: .seconds(300))
        let written = try await store.write(Session("aa", began: longAgo).says(.active, 2, lost: lost))
        #expect(try await lastSeen(store) == written.time)
        #expect(try await store.record(of: alice).devices[phone]?.lost == written.time)
    }

    @Test func aSessionInGraceThatIsTakenOverWasSeenUntilItsLoss() async throws {
        let store = try await store(planted: "active w1.aaaa 1000-aa 1 1000 5000")
        try await store.write(Session("bb").says(.background, 1))
        #expect(try await lastSeen(store)?.milliseconds == 5000)
    }

    @Test func aSessionInUseThatIsTakenOverWasSeenUntilThen() async throws {
        let store = try await store(planted: "active w1.aaaa 1000-aa 1 1000 0")
        let lost = try await store.now().advanced(by: .seconds(-20))
        let taken = try await store.write(Session("bb").says(.background, 1, lost: lost))
        #expect(try await lastSeen(store) == taken.time, "the loss is the new session's, not the old one's")
    }

    @Test func itNeverMovesBack() async throws {
        let store = try await store(planted: "active w1.aaaa 1000-aa 1 1000 0", lastSeen: longAgo)
        let written = try await store.write(Session("aa", began: longAgo).says(.idle, 2))
        #expect(try await lastSeen(store) == written.time)
        try await store.write(Session("aa", began: longAgo).says(.idle, 3, lost: longAgo))
        #expect(try #require(await lastSeen(store)) >= written.time)
    }

    @Test func oneAheadOfTheClockIsReadAsNow() async throws {
        let store = try await store(planted: "active w1.aaaa 1000-aa 1 1000 0", lastSeen: Timestamp.never)
        let written = try await store.write(Session("aa", began: longAgo).says(.idle, 2))
        #expect(try await lastSeen(store) == written.time)
    }

    @Test func theOtherDevicesLossDoesNotCountAsSeenNow() async throws {
        let store = try await store(planted: "background w1.aaaa 1000-aa 1 1000 0", lastSeen: longAgo)
        try await store.write(Session("bb", device: tablet).says(.background, 1))
        #expect(try await lastSeen(store) == longAgo)
    }
}
