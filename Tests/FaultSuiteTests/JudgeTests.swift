// What the suite takes for a broken promise, told by observers' notes that were never taken.

import RollcallClient
import Testing

@testable import FaultSuite
@testable import Harness

@Suite("The judge of a round")
struct JudgeTests {
    private let start = ContinuousClock.now
    private let alice: UserID = "alice"
    private let room: ConversationID = "c1"

    private func at(_ seconds: Double) -> Moment { start + .milliseconds(Int(seconds * 1000)) }

    // MARK: What should be seen

    @Test("who is shown offline in time keeps the promise, and the time is told")
    func offlineInTime() {
        let findings = judge([shown(.online, at: 1), shown(.offline, at: 3.5)]) {
            $0.expectations = [expectation(.status(alice, .offline), since: 2, within: 2)]
        }
        #expect(broken(findings).isEmpty)
        #expect(findings.first { $0.promise == .offline }?.seconds == 1.5)
    }

    @Test("who is shown offline late, never, or only for a while breaks it")
    func offlineLate() {
        let late = [shown(.online, at: 1), shown(.offline, at: 4.5)]
        let never = [shown(.online, at: 1)]
        let flickering = [shown(.offline, at: 2.5), shown(.online, at: 3), shown(.offline, at: 5)]
        let afterwards = [shown(.offline, at: 2.5), shown(.online, at: 8)]
        for notes in [late, never, flickering, afterwards] {
            let findings = judge(notes) {
                $0.expectations = [expectation(.status(alice, .offline), since: 2, within: 2)]
            }
            #expect(broken(findings) == [.offline], "\(notes)")
        }
    }

    @Test("what is true only until some moment may change after it")
    func until() {
        let findings = judge([shown(.offline, at: 2.5), shown(.online, at: 5)]) {
            $0.expectations = [expectation(.status(alice, .offline), since: 2, within: 2, until: 4.9)]
        }
        #expect(broken(findings).isEmpty)
    }

    @Test("whose worker could not know the truth has it two seconds after it could")
    func blind() {
        for (shownAt, isBroken) in [(7.5, false), (8.5, true)] {
            let findings = judge([shown(.online, at: 1), shown(.offline, at: shownAt)]) {
                $0.expectations = [expectation(.status(alice, .offline), since: 2, within: 2)]
                $0.blind = [(0, at(2)..<at(6))]
            }
            #expect(broken(findings).isEmpty != isBroken)
        }
    }

    @Test("an observer without a connection has seen nothing, and is asked nothing")
    func away() {
        let findings = judge([shown(.online, at: 1), note(.ended(host: 0, nil), at: 3)]) {
            $0.expectations = [expectation(.status(alice, .offline), since: 2, within: 2)]
            $0.gone = [(0, at(2))]
        }
        #expect(broken(findings).isEmpty)
    }

    @Test("typing that lasts too long breaks the promise")
    func typing() {
        for (end, isBroken) in [(4.9, false), (5.3, true)] {
            let findings = judge([typists([alice], at: 2), typists([], at: end)]) {
                $0.expectations = [
                    expectation(.typesNot(alice, in: room), .typing, since: 2, within: 3.15)
                ]
            }
            #expect(broken(findings).isEmpty != isBroken)
        }
    }

    @Test("a set that is not repeated is distrusted by a client, and not counted as shown")
    func distrust() {
        let sight = Sight(
            of: [note(.welcomed(host: 0), at: 0), typists([alice], at: 1)], on: 0, expiry: .seconds(3), until: at(10))
        #expect(sight.typists[room]?.value(at: at(5.9)) == [alice])
        #expect(sight.typists[room]?.value(at: at(6.1)) == [])
    }

    // MARK: What should never be seen

    @Test("one message of offline is a flap")
    func flap() {
        let findings = judge([shown(.online, at: 1), shown(.offline, at: 3), shown(.online, at: 3.001)]) {
            $0.prohibitions = [
                Prohibition(promise: .steadiness, user: alice, statuses: [.offline], from: at(2), until: nil)
            ]
        }
        #expect(broken(findings) == [.steadiness])
    }

    @Test("what an observer had seen before is what it sees; the report says since when")
    func before() {
        let findings = judge([shown(.offline, at: 1.91), shown(.online, at: 2.5)]) {
            $0.prohibitions = [
                Prohibition(promise: .steadiness, user: alice, statuses: [.offline], from: at(2), until: nil)
            ]
        }
        #expect(findings.compactMap(\.broken).contains { $0.hasSuffix("after -0.09 s") })
    }

    @Test("a read that shows the dead breaks the promise, unless it began before or reads are excused")
    func ghosts() {
        for (began, excused, isBroken) in [(3.5, false, true), (2.5, false, false), (3.5, true, false)] {
            let read = Read(host: 0, began: at(began), ended: at(began + 0.01), statuses: [alice: .online])
            let findings = judge([], reads: [read]) {
                $0.prohibitions = [
                    Prohibition(
                        promise: .ghosts, user: alice, statuses: [.online], from: at(3), until: nil, who: .reads)
                ]
                if excused { $0.unreadable = [at(3.2)..<at(4)] }
            }
            #expect(broken(findings).isEmpty != isBroken)
        }
    }

    // MARK: Order and connections

    @Test("an older version after a newer breaks the order, unless Redis lost data or the connection is another")
    func order() {
        let newer = shown(.online, at: 1, version: 7)
        let older = shown(.away, at: 2, version: 6)
        #expect(broken(judge([newer, older]) { _ in }) == [.order])
        #expect(broken(judge([newer, older]) { $0.dataIsLost = true }).isEmpty)
        #expect(broken(judge([newer, note(.welcomed(host: 0), at: 1.5), older]) { _ in }).isEmpty)
    }

    @Test("a connection that ends breaks the promise, unless its worker went or it may")
    func connections() {
        let ended = note(.ended(host: 0, .tooSlow), at: 3)
        #expect(broken(judge([ended]) { _ in }) == [.connections])
        #expect(broken(judge([ended]) { $0.gone = [(0, at(2))] }).isEmpty)
        #expect(broken(judge([ended]) { $0.gone = [(0, at(4))] }) == [.connections])
        #expect(broken(judge([ended]) { $0.mayLose = ["watcher"] }).isEmpty)
        #expect(broken(judge([note(.ended(host: 0, .normal), at: 3)]) { _ in }).isEmpty)
    }

    // MARK: Making notes

    private func judge(_ notes: [Note], reads: [Read] = [], _ plan: (inout Plan) -> Void) -> [Finding] {
        let notes = [note(.welcomed(host: 0), at: 0)] + notes
        var made = Plan()
        plan(&made)
        let sight = Sight(of: notes, on: 0, expiry: .seconds(3), until: at(10))
        return Judge(plan: made, sights: [sight], reads: reads, notes: [("watcher", notes)], end: at(10)).findings()
    }

    private func broken(_ findings: [Finding]) -> [FaultSuite.Promise] {
        findings.filter { $0.broken != nil }.map(\.promise)
    }

    private func expectation(
        _ thing: FaultSuite.Expectation.Thing, _ promise: FaultSuite.Promise = .offline, since: Double, within: Double,
        until: Double? = nil
    ) -> FaultSuite.Expectation {
        FaultSuite.Expectation(
            thing: thing, promise: promise, since: at(since), within: .milliseconds(Int(within * 1000)),
            until: until.map(at))
    }

    private func note(_ event: Note.Event, at seconds: Double) -> Note { Note(at: at(seconds), event: event) }

    private func shown(_ status: PresenceStatus, at seconds: Double, version: Int64 = 1) -> Note {
        let presence = Presence(user: alice, status: status, lastSeen: nil, updatedAt: nil, version: version)
        return note(.presence(presence), at: seconds)
    }

    private func typists(_ users: [UserID], at seconds: Double) -> Note {
        let typists = users.map { Typist(user: $0) }
        return note(.typing(.init(conversation: room, users: typists, count: typists.count)), at: seconds)
    }
}
