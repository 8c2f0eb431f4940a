// A user's record after a device's decision, and what is published about it.

import RollcallModel
import RollcallRedis
import TestSupport
import Testing

@Suite(.serialized) struct StorePresenceTests {
    @Test func namesArePublishedAsJSONStrings() async throws {
        let store = try await StoreUnderTest()
        let strange = user(#"a"b\c-ü😀"#)
        let subscriber = try await RawSubscriber(to: store)
        let time = try await store.write(Session("aa", user: strange).says(.active, 1)).time.milliseconds
        #expect(
            try await subscriber.heard(on: #"presence:{a"b\c-ü😀}"#) == [
                #"{"user":"a\"b\\c-ü😀","status":"online","last_seen":\#(time),"updated_at":\#(time),"#
                    + #""version":\#(time),"devices":1,"at":\#(time)}"#
            ])
    }

    @Test func aStateKeepsItsBeginningOverSessions() async throws {
        let store = try await StoreUnderTest()
        try await store.plant("active w1.aaaa 1000-aa 1 2000 0")
        try await store.write(Session("aa", began: Timestamp(milliseconds: 1000)).says(.active, 2))
        #expect(try await store.record(of: alice).devices[phone]?.since.milliseconds == 2000)
        let other = try await store.write(Session("bb", worker: w2).says(.active, 1))
        #expect(try await store.record(of: alice).devices[phone]?.since.milliseconds == 2000)
        let idle = try await store.write(Session("bb", worker: w2).says(.idle, 2))
        #expect(try await store.record(of: alice).devices[phone]?.since == idle.time)
        #expect(other.outcome == .written)
    }

    @Test func aSecondRemovalIsANewBeginningOfBeingGone() async throws {
        let store = try await StoreUnderTest()
        try await store.plant("gone w1.aaaa 1000-aa 1 2000 0")
        let gone = try await store.write(Session("aa", began: Timestamp(milliseconds: 1000)).says(nil, 2))
        #expect(try await store.record(of: alice).devices[phone]?.since == gone.time)
    }

    @Test func aRefusedWriteLeavesTheRetentionAlone() async throws {
        let store = try await StoreUnderTest(settings: Store.Settings(retention: .seconds(100)))
        try await store.write(Session("aa").says(.background, 1))
        try await store.command("PEXPIRE", "presence:{alice}", "50000")
        try await store.write(Session("aa").says(.active, 1))
        #expect((40_000...50_000).contains(try await store.timeToLive("presence:{alice}")))
    }

    @Test func aLateWriteOfTheLongGoneIsNotDroppedByItself() async throws {
        let store = try await StoreUnderTest()
        try await store.plant("gone w1.aaaa 1000-aa 5 2000 0")
        let again = try await store.write(Session("aa", began: Timestamp(milliseconds: 1000)).says(nil, 6))
        #expect(again.outcome == .written)
        #expect(try await store.record(of: alice).devices[phone]?.sequence == 6)
    }

    @Test func whatOtherVersionsWroteStays() async throws {
        let store = try await StoreUnderTest()
        try await store.command("HSET", "presence:{alice}", "availability", "busy", "device:odd", "asleep x y")
        try await store.plant("active w1.aaaa 1000-aa 1 2000 0 ios 17")
        try await store.plant("active w1.aaaa 1000-cc 1 2000 0 web", device: tablet)
        try await store.write(Session("aa", began: Timestamp(milliseconds: 1000)).says(.idle, 2))

        let hash = try await store.hash("presence:{alice}")
        #expect(hash["availability"] == "busy")
        #expect(hash["device:odd"] == "asleep x y")
        #expect(hash["device:phone"]?.hasSuffix(" 0 ios 17") == true)
        #expect(hash["device:tablet"] == "active w1.aaaa 1000-cc 1 2000 0 web")
        #expect(hash["status"] == "online", "the device with words of another version counts")
    }

    @Test func manyAreReadInTheOrderAsked() async throws {
        let store = try await StoreUnderTest()
        try await store.write(Session("aa", user: bob).says(.active, 1))
        try await store.command("SET", "presence:{carol}", "no hash")
        let before = try await store.now()
        let users = [alice, bob, user("carol"), alice]
        let snapshot: PresenceSnapshot = try await store.call {
            $0.presence(of: users, known: KnownWorkers(), reply: $1)
        }

        try #require(snapshot.records.map(\.user) == users)
        #expect(snapshot.records[1].devices[phone]?.state == .active)
        for unseen in [snapshot.records[0], snapshot.records[2], snapshot.records[3]] {
            #expect(unseen.devices.isEmpty && unseen.lastSeen == nil && unseen.updatedAt == nil)
            #expect(unseen.version >= before.milliseconds - 1)
        }
    }

    @Test func nobodyIsReadAtOnce() async throws {
        let store = try await StoreUnderTest()
        let snapshot: PresenceSnapshot = try await store.call { $0.presence(of: [], known: KnownWorkers(), reply: $1) }
        #expect(snapshot.records.isEmpty)
    }

    /// If it were answered for each of its commands, the promise in ``StoreUnderTest/call(_:)`` would trap.
    @Test func aReadWithoutRedisFailsOnce() async throws {
        let store = try await StoreUnderTest()
        store.redis.process.kill()
        try await eventually("the loss is noticed") {
            do {
                try await store.command("PING")
                return false
            } catch {
                return true
            }
        }
        await #expect(throws: RedisError.self) {
            let _: PresenceSnapshot = try await store.call {
                $0.presence(of: [alice, bob], known: KnownWorkers(), reply: $1)
            }
        }
    }

    @Test func theOldWorkerHearsOfATakeover() async throws {
        let store = try await StoreUnderTest()
        let subscriber = try await RawSubscriber(to: store)
        let strange = device(#"p"/h"#)
        let previous = DeviceWritten.PreviousSession(incarnation: w1, session: "17-aa")
        try await store.call {
            $0.announceReplaced(previous, user: alice, device: strange, reply: $1)
        }

        let heard = try await subscriber.heard(1, on: "worker:{w1.aaaa}")
        #expect(heard == [#"{"replaced":"alice p\"/h 17-aa"}"#])
        #expect(
            WorkerNotice(payload: Array(heard[0].utf8))
                == .replaced(user: alice, device: strange, session: "17-aa"))
        #expect(WorkerNotice(payload: Array(#"{"other":1}"#.utf8)) == nil)
    }
}
