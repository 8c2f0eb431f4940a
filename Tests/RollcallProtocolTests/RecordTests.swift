// Reading what is stored in Redis, including what a later version wrote.

import RollcallProtocol
import TestSupport
import Testing

@Suite struct RecordTests {
    private let text: ByteString = "active w1.3f9a2c 1753600000000-8a6e5f0b1c2d3e4 12 1753600000001 0"

    @Test("a device's record is read and written")
    func roundTrip() throws {
        let record = try #require(DeviceRecord(text))
        #expect(record.state == .active)
        #expect(record.incarnation == Incarnation(name: "w1.3f9a2c"))
        #expect(record.began == time(1_753_600_000_000))
        #expect(record.session == SessionID(random: "8a6e5f0b1c2d3e4"))
        #expect(record.sequence == 12)
        #expect(record.since == time(1_753_600_000_001))
        #expect(record.lost == nil)
        #expect(record.description == text.string)
    }

    @Test("a device that has left or is in its grace period is recognised")
    func goneAndLost() throws {
        let gone: ByteString = "gone w1.a 5-b 1 2 0"
        #expect(try #require(DeviceRecord(gone)).state == nil)
        #expect(DeviceRecord(gone)?.description == gone.string)
        #expect(DeviceRecord("idle w1.a 5-b 1 2 77")?.lost == time(77))
    }

    @Test("values added by a later version are ignored")
    func laterWords() {
        #expect(DeviceRecord(ByteString("\(text) shiny 42")) == DeviceRecord(text))
    }

    @Test("with a state of a later version, a device counts as connected without affecting the status")
    func laterState() throws {
        let record = try #require(DeviceRecord("driving w9.a 5-b 1 2 0 fast"))
        #expect(record.state == .background)
        #expect(record.incarnation == Incarnation(name: "w9.a"))
    }

    @Test(
        "an invalid record is rejected",
        arguments: [
            "", "active", "active w1.a 5-b 1 2", " w1.a 5-b 1 2 0", "active w1.a 5b 1 2 0",
            "active w1.a x-b 1 2 0", "active w1.a 5-b x 2 0", "active w1.a 5-b 1 x 0", "active w1.a 5-b 1 2 x",
            "active  w1.a 5-b 1 2 0", "active w1.a 5-b 9x 2 0",
        ])
    func noRecord(text: String) {
        #expect(DeviceRecord(ByteString(text)) == nil)
    }

    /// Regression: unbounded ones overflowed where they were counted on.
    @Test(
        "a number from Redis is within what the scripts can hold",
        arguments: [
            ("0", 0), ("-7", -7), ("9007199254740993", 1 << 53), ("-9007199254740993", -1 << 53),
            ("9223372036854775808", 1 << 53), (String(repeating: "9", count: 4000), 1 << 53),
        ] as [(String, Int64)])
    func bounded(text: String, number: Int64) {
        #expect(Int64(decimal: ByteString(text)) == number)
        #expect(Int64(decimal: ByteString(text + "x")) == nil && Int64(decimal: ByteString("+" + text)) == nil)
    }

    @Test("devices of dead workers are skipped in a record")
    func masking() throws {
        let record = PresenceRecord(
            user: user("a"),
            devices: [
                device("phone"): try #require(DeviceRecord("active dead.1 5-b 1 2 0")),
                device("desk"): try #require(DeviceRecord("idle w1.a 5-c 1 2 0")),
                device("old"): try #require(DeviceRecord("gone dead.2 5-d 1 2 0")),
            ],
            lastSeen: time(9), updatedAt: time(10), version: 11)
        let (dead, living) = (Incarnation(name: "dead.1"), Incarnation(name: "w1.a"))
        let standing = WorkerStanding(time: time(30), leaseEnd: time(20), beat: time(15))
        #expect(record.presence(past: [:]).status == .online)
        #expect(record.presence(past: [:]).lastSeen == time(9))
        #expect(record.presence(past: [dead: standing]).status == .away)
        #expect(record.presence(past: [dead: standing]).lastSeen == time(15), "as a sweep will say")
        let forgotten = WorkerStanding(time: time(30), leaseEnd: nil, beat: nil)
        #expect(record.presence(past: [dead: standing, living: forgotten]).status == .offline)
        #expect(record.presence(past: [dead: forgotten]).lastSeen == time(9), "of which nobody knows the last beat")
        let alive = WorkerStanding(time: time(30), leaseEnd: time(30), beat: time(15))
        #expect(record.presence(past: [dead: alive]).status == .online)
        #expect(record.incarnations == [Incarnation(name: "dead.1"), Incarnation(name: "w1.a")])
    }

    /// Regression: the time comes from Redis, and the first of all has none before it.
    @Test("the version of a missing record is clamped")
    func farVersion() {
        #expect(PresenceRecord(user: user("a"), readAfter: time(5)).version == 4)
        #expect(PresenceRecord(user: user("a"), readAfter: time(.min)).version == .min)
    }

    @Test("an incarnation names its worker, whatever the worker's name")
    func incarnation() {
        var random = SeededGenerator(seed: 1)
        let incarnation = Incarnation(worker: "host-1", using: &random)
        #expect(incarnation.worker == "host-1")
        #expect(incarnation.name.utf8.count == "host-1.".count + 12)
        #expect(incarnation != Incarnation(worker: "host-1", using: &random))
        #expect(Incarnation(name: "bare").worker == "bare")
        #expect(SessionID(using: &random).random.utf8.count == 15)
    }

    @Test("published changes are read by field, in any order and with additional fields")
    func changes() throws {
        func read<Change: JSONReadable>(_ text: String, as type: Change.Type = Change.self) throws -> Change {
            try Change(jsonText: text.utf8)
        }
        #expect(
            try read(#"{"at":5,"expires_in":3000,"typing":true,"user":"alice","device":"x"}"#)
                == TypingChange(user: user("alice"), typing: true, expiresIn: 3000, at: time(5)))
        #expect(
            try read(#"{"user":"alice","typing":false,"at":5}"#)
                == TypingChange(user: user("alice"), typing: false, expiresIn: nil, at: time(5)))
        #expect(
            try read(#"{"user":"alice","member":true,"name":"Alice"}"#)
                == MemberChange.member(user("alice"), name: "Alice", count: nil))
        #expect(
            try read(#"{"user":"alice","member":true}"#) == MemberChange.member(user("alice"), name: "", count: nil))
        #expect(
            try read(#"{"user":"alice","member":false,"count":7}"#) == MemberChange.removed(user("alice"), count: 7))
        #expect(try read(#"{"reset":true}"#) == MemberChange.reset)
        #expect(throws: UnexpectedJSON.self) { try read(#"{"user":"a b","member":true}"#, as: MemberChange.self) }
        let presence = Presence(user: user("alice"), status: .away, lastSeen: nil, updatedAt: time(5), version: 6)
        #expect(
            try read(
                #"{"user":"alice","status":"away","last_seen":null,"updated_at":5,"version":6,"devices":1,"at":5}"#)
                == PresenceChange(presence))
    }

    /// A worker that read it as offline would show that until the next change.
    @Test("for a published status of a later version, the record is read instead")
    func laterStatus() {
        let change = #"{"user":"alice","status":"driving","last_seen":4,"updated_at":5,"version":6,"devices":1,"at":5}"#
        #expect(throws: UnexpectedJSON.self) { try PresenceChange(jsonText: change.utf8) }
    }

    @Test("times are whole milliseconds, and differences may be negative")
    func times() {
        #expect(time(1500).advanced(by: .seconds(2)) == time(3500))
        #expect(time(1500).advanced(by: .milliseconds(-2)) == time(1498))
        #expect(time(1).since(time(1500)) == .milliseconds(-1499))
        #expect(Duration.microseconds(1999).milliseconds == 1)
        #expect(Duration.microseconds(-1999).milliseconds == -1)
    }

    @Test("only the codes from 4100 to 4199 need a correction first")
    func closeCodes() {
        for code: UInt16 in [1000, 1002, 1003, 1006, 1009, 4000, 4003, 4099, 4200, 4999] {
            #expect(CloseCode(rawValue: code).mayReconnect)
        }
        for code: UInt16 in [4100, 4104, 4106, 4199] { #expect(!CloseCode(rawValue: code).mayReconnect) }
    }
}
