// Whether to push, by what a record says.

import RollcallProtocol
import Testing

@Suite struct ReachTests {
    private let now = Timestamp(milliseconds: 1_000_000)

    /// The advice for a record with these devices, `STATE SECONDS_AGO [LOST_SECONDS_AGO]`; on a dead worker if `isDead`.
    private func reach(
        _ devices: [String], lastSeen: Int64? = 500, isDead: Bool = false, person: Person? = nil
    ) throws -> Reach {
        let devices = try devices.enumerated().map { number, text in
            let words = text.split(separator: " ")
            let times = try words.dropFirst().map { now.milliseconds - (try #require(Int64($0))) * 1000 }
            let record = "\(words[0]) w1.a 5-b 1 \(times[0]) \(times.count > 1 ? times[1] : 0)"
            return (device("d\(number)"), try #require(DeviceRecord(ByteString(record))))
        }
        let seen = lastSeen.map { Timestamp(milliseconds: now.milliseconds - $0 * 1000) }
        let record = PresenceRecord(
            user: user("alice"), devices: Dictionary(uniqueKeysWithValues: devices), lastSeen: seen, updatedAt: seen,
            version: 1)
        let standing = WorkerStanding(
            time: now, leaseEnd: isDead ? Timestamp(milliseconds: 1) : now, beat: now.advanced(by: .seconds(-5)))
        return Reach(record, past: [Incarnation(name: "w1.a"): standing], person, at: now)
    }

    @Test("who is not to be disturbed is not pushed to until then, unless they look at a device")
    func hold() throws {
        let until = now.advanced(by: .seconds(60))
        let patch = PersonPatch([.availability(.dnd), .until(until)] as [Person.Setting])
        let person = Person(revision: 1).changed(by: patch)
        for devices in [["gone 900"], ["active 900 3"]] {
            let reach = try reach(devices, person: person)
            #expect(text(reach) == #"{"advice":"hold","until":\#(until.milliseconds),"user":"alice"}"#)
        }
        #expect(try reach(["active 1"], person: person).advice == .skip)
        #expect(
            try reach(["gone 900"], person: person.changed(by: PersonPatch([.until(now)] as [Person.Setting]))).advice
                == .push)
        #expect(
            try reach(["gone 900"], person: person.changed(by: PersonPatch([.availability(.busy)] as [Person.Setting])))
                .advice == .push)
    }

    @Test(
        "the best device decides",
        arguments: [
            (["active 900"], "skip"), (["gone 5", "active 900"], "skip"), (["active 900 3"], "later"),
            (["idle 59"], "later"), (["idle 61"], "push"), (["idle 900 3"], "later"), (["background 3"], "push"),
            (["background 3", "idle 61", "active 1 1"], "later"), ([], "push"),
            (["idle -1"], "push"),
        ])
    func devices(devices: [String], advice: String) throws {
        #expect(try reach(devices).advice.rawValue == advice)
    }

    @Test(
        "who has just gone may return, also if their worker has died",
        arguments: [(29, "later"), (30, "push"), (-1, "push")])
    func gone(seconds: Int64, advice: String) throws {
        #expect(try reach(["gone 1"], lastSeen: seconds).advice.rawValue == advice)
        #expect(try reach(["active 900"], isDead: true).advice == .later, "last seen at the worker's last heartbeat")
        #expect(try reach(["background 900"], lastSeen: seconds, isDead: true).advice.rawValue == advice)
    }

    @Test("in doubt it says push, and that it does not know")
    func unknown() throws {
        #expect(text(Reach(unknown: user("alice"))) == #"{"advice":"push","known":false,"user":"alice"}"#)
        #expect(text(try reach([], lastSeen: nil)) == #"{"advice":"push","known":false,"user":"alice"}"#)
        #expect(text(try reach(["gone 5"])) == #"{"advice":"push","user":"alice"}"#)
        #expect(text(try reach(["idle 5"])) == #"{"advice":"later","after":20000,"user":"alice"}"#)
    }

    private func text(_ reach: Reach) -> String { String(decoding: reach.jsonText, as: UTF8.self) }
}
