// A worker of a later version next to this one: its device has a state that this version does not know. The device
// counts as connected, does not affect the status, and keeps its place in the order of sessions.

import RollcallModel
import RollcallRedis
import Testing

@Suite(.serialized) struct StoreLaterVersionTests {
    private let later = "driving w9.zzzz 2000-zz 3 2500 0 fast"

    @Test func anUnknownStateCountsAsBackground() async throws {
        let store = try await StoreUnderTest()
        try await store.plant(later, device: tablet)
        let subscriber = try await RawSubscriber(to: store)
        try await store.write(Session("aa").says(.background, 1))

        let record = try await store.record(of: alice)
        #expect(record.presence(past: [:]).status == .offline)
        #expect(record.incarnations == [w1, Incarnation(name: "w9.zzzz")])
        #expect(try await store.hash("presence:{alice}")["device:tablet"] == later)
        let time = try await store.write(Session("aa").says(.idle, 2)).time.milliseconds
        #expect(
            try await subscriber.heard(on: "presence:{alice}").suffix(1) == [
                #"{"user":"alice","status":"away","last_seen":\#(time),"updated_at":\#(time),"version":\#(time),"#
                    + #""devices":2,"at":\#(time)}"#
            ])
    }

    @Test func aSessionInAnUnknownStateIsTakenOverInOrder() async throws {
        let store = try await StoreUnderTest()
        try await store.plant(later)
        let older = try await store.write(Session("aa", began: Timestamp(milliseconds: 1000)).says(.active, 1))
        #expect(older.outcome == .replaced)
        let newer = try await store.write(Session("bb").says(.active, 1))
        #expect(newer.outcome == .written)
        #expect(newer.previous == .init(incarnation: Incarnation(name: "w9.zzzz"), session: "2000-zz"))
        #expect(try await store.record(of: alice).lastSeen == newer.time)
    }

    @Test func aDeadWorkersDeviceInAnUnknownStateIsSwept() async throws {
        let store = try await StoreUnderTest()
        try await store.plant(later)
        let (name, dead) = (Session("zz").name, Incarnation(name: "w9.zzzz"))
        _ = try await store.call { $0.record([name], of: dead, until: .never, reply: $1) }
        #expect(try await store.call { $0.sweep([name], of: dead, until: .never, reply: $1) } == 1)
        #expect(try await store.hash("presence:{alice}")["device:phone"]?.hasPrefix("gone w9.zzzz 2000-zz 3 ") == true)
        #expect(try await store.record(of: alice).lastSeen == nil, "it told of nobody")
    }
}
