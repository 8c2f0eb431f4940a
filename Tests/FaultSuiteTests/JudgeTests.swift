// Which observations the suite judges as broken promises, tested with made-up diaries.

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

    // MARK: Expectations

    @Test("a user shown offline in time keeps the promise, and the time is reported")
    func offlineInTime() {
        let findings = judge([shown(.online, at: 1), shown(.offline, at: 3.5)]) {
            $0.expectations = [expectation(.status(alice, .offline), since: 2, within: 2)]
        }
        #expect(broken(findings).isEmpty)
        #expect(findings.first { $0.promise == .offline }?.seconds == 1.5)
    }

    @Test("a user shown offline late, never, or only for a while breaks the promise")
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

    @Test("an expectation with an end time allows changes after it")
    func until() {
        let findings = judge([shown(.offline, at: 2.5), shown(.online, at: 5)]) {
            $0.expectations = [expectation(.status(alice, .offline), since: 2, within: 2, until: 4.9)]
        }
        #expect(broken(findings).isEmpty)
    }

    @Test("observers of a worker that could not know the state have two seconds once it can")
    func blind() {
        for (shownAt, isBroken) in [(7.5, false), (8.5, true)] {
            let findings = judge([shown(.online, at: 1), shown(.offline, at: shownAt)]) {
                $0.expectations = [expectation(.status(alice, .offline), since: 2, within: 2)]
                $0.blind = [(0, at(2)..<at(6))]
            }
            #expect(broken(findings).isEmpty != isBroken)
        }
    }

    @Test("an observer without a connection has seen nothing, and nothing is expected of it")
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

    @Test("a set of typing users that is not repeated expires at the client, and does not count as shown")
    func distrust() {
        let sight = Sight(
            of: [note(.welcomed(host: 0), at: 0), typists([alice], at: 1)], on: 0, expiry: .seconds(3), until: at(10))
        #expect(sight.typists[room]?.value(at: at(5.9)) == [alice])
        #expect(sight.typists[room]?.value(at: at(6.1)) == [])
    }

    @Test("a visitor is in the room while present, and not longer than shown present")
    func visitors() {
        let online = shown(.online, at: 1)
        let (came, offline, went) = (here([alice], at: 1.1), shown(.offline, at: 3), here([], at: 3.5))
        for (notes, isBroken) in [
            ([online, came, offline, went], false), ([online, came, offline], true),
            ([online, came, offline, here([], at: 4.5)], true), ([online, came, offline, went, came], true),
        ] {
            let findings = judge(notes) {
                $0.visitors = [alice]
                $0.expectations = $0.with([.status(alice, .offline)]).map { expectation($0, since: 2, within: 2) }
            }
            #expect(broken(findings).isEmpty != isBroken)
        }
        for (statuses, seen, isBroken) in [
            ([PresenceStatus.offline], [], true), ([.offline], [alice], false), ([.online, .away], [alice], true),
            ([.online, .away], [], false), ([.away], [alice], false),
        ] {
            let findings = judge([here([alice], at: 1), here(seen, at: 3)]) {
                $0.visitors = [alice]
                $0.prohibitions = [
                    Prohibition(promise: .ghosts, user: alice, statuses: Set(statuses), from: at(3), who: .observers)
                ]
            }
            #expect(broken(findings).isEmpty != isBroken)
        }
    }

    // MARK: Prohibitions

    @Test("a single offline message counts as a flap")
    func flap() {
        let findings = judge([shown(.online, at: 1), shown(.offline, at: 3), shown(.online, at: 3.001)]) {
            $0.prohibitions = [
                Prohibition(promise: .steadiness, user: alice, statuses: [.offline], from: at(2), until: nil)
            ]
        }
        #expect(broken(findings) == [.steadiness])
    }

    @Test("an observer keeps seeing the last status that it received, and the report says since when")
    func before() {
        let findings = judge([shown(.offline, at: 1.91), shown(.online, at: 2.5)]) {
            $0.prohibitions = [
                Prohibition(promise: .steadiness, user: alice, statuses: [.offline], from: at(2), until: nil)
            ]
        }
        #expect(findings.compactMap(\.broken).contains { $0.hasSuffix("after -0.09 s") })
    }

    @Test("a read that shows devices of a dead worker breaks the promise, unless it began earlier or reads are excused")
    func ghosts() {
        for (began, excused, isBroken) in [(3.5, false, true), (2.5, false, false), (3.5, true, false)] {
            let read = Read(host: 0, began: at(began), ended: at(began + 0.01), statuses: [alice: .online])
            let later = Read(host: 0, began: at(6), ended: at(6.01), statuses: [alice: .offline])
            let findings = judge([], reads: [read, later]) {
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

    @Test("a promise about reads only is broken if no read was answered")
    func nothingRead() {
        for (answered, isBroken) in [(true, false), (false, true)] {
            let read = Read(host: 0, began: at(4), ended: at(4.01), statuses: answered ? [alice: .offline] : nil)
            let findings = judge([], reads: [read]) {
                $0.prohibitions = [
                    Prohibition(
                        promise: .ghosts, user: alice, statuses: [.online], from: at(3), until: nil, who: .reads)
                ]
            }
            #expect(broken(findings).isEmpty != isBroken)
        }
    }

    @Test("an older version after a newer one breaks the order, unless Redis lost data or the connection is new")
    func order() {
        let newer = shown(.online, at: 1, version: 7)
        let older = shown(.away, at: 2, version: 6)
        #expect(broken(judge([newer, older]) { _ in }) == [.order])
        #expect(broken(judge([newer, older]) { $0.dataLost = at(1.5) }).isEmpty)
        #expect(broken(judge([newer, note(.welcomed(host: 0), at: 1.5), older]) { _ in }).isEmpty)
    }

    @Test("data loss excuses older versions neither before the loss nor after the end of the fault")
    func orderAroundLoss() {
        let notes = [shown(.online, at: 3, version: 7), shown(.away, at: 4, version: 6)]
        #expect(broken(judge(notes) { $0.dataLost = at(4.5) }) == [.order])
        #expect(broken(judge(notes) { ($0.dataLost, $0.over) = (at(1), at(3.5)) }) == [.order])
        #expect(broken(judge(notes) { ($0.dataLost, $0.over) = (at(1), at(4.5)) }).isEmpty)
    }

    @Test(
        "last-seen times and versions of users never seen may go back with Redis's clock; other versions may not"
    )
    func orderAroundClockStep() {
        func back(by milliseconds: Int64, setBy step: Double?, at moment: Double = 3.5) -> [Finding] {
            let notes = [shown(.offline, at: 3, seen: 99_000), shown(.offline, at: 4, seen: 99_000 - milliseconds)]
            return judge(notes) { $0.clockSetBack = step.map { (at(moment), .milliseconds(Int($0 * 1000))) } }
        }
        #expect(broken(back(by: 19_000, setBy: 20)).isEmpty)
        #expect(broken(back(by: 20_100, setBy: 20)) == [.order])
        #expect(broken(back(by: 900, setBy: 20)) == [.order])
        #expect(broken(back(by: 19_000, setBy: 20, at: 4.5)) == [.order])
        #expect(broken(back(by: 19_000, setBy: nil)) == [.order])
        for (seen, isBroken) in [(nil, false), (Int64(3000), true)] {
            let notes = [
                shown(.offline, at: 3, version: 9000, seen: seen), shown(.online, at: 4, version: 8100, seen: 3000),
            ]
            #expect(broken(judge(notes) { $0.clockSetBack = (at(3.5), .seconds(1)) }).isEmpty != isBroken)
        }
    }

    @Test("a connection that ends breaks the promise, unless its worker was stopped or it may end")
    func connections() {
        let ended = note(.ended(host: 0, .tooSlow), at: 3)
        #expect(broken(judge([ended]) { _ in }) == [.connections])
        #expect(broken(judge([ended]) { $0.gone = [(0, at(2))] }).isEmpty)
        #expect(broken(judge([ended]) { $0.gone = [(0, at(4))] }) == [.connections])
        #expect(broken(judge([ended]) { $0.mayLose = ["watcher"] }).isEmpty)
        #expect(broken(judge([note(.ended(host: 0, .normal), at: 3)]) { _ in }).isEmpty)
    }

    @Test("a stopped worker does not excuse connections made after its restart")
    func connectionsAfterRestart() {
        let again = [
            note(.ended(host: 0, nil), at: 2.1), note(.welcomed(host: 0), at: 4), note(.ended(host: 0, nil), at: 5),
        ]
        #expect(broken(judge(again) { $0.gone = [(0, at(2))] }).isEmpty)
        let findings = judge(again) { ($0.gone, $0.restarted) = ([(0, at(2))], [(0, at(3))]) }
        #expect(broken(findings) == [.connections])
    }

    // MARK: Who sees typing, and who may type

    @Test("a device that is shown its own user typing breaks the promise, in any conversation")
    func ownTyping() {
        #expect(broken(judge([typists(["watcher"], at: 2)]) { _ in }) == [.audience])
        #expect(broken(judge([typists([alice], at: 2)]) { _ in }).isEmpty)
    }

    @Test("a user who never was a member sees no typing, may not type, and is not shown to others")
    func neverMember() {
        let outsider = Exclusion(user: "watcher", conversation: room, since: nil)
        for event in [Note.Event.joined(room, asked: at(2)), .signalled(room, asked: at(2))] {
            #expect(broken(judge([note(event, at: 2)]) { $0.exclusions = [outsider] }) == [.audience])
        }
        #expect(broken(judge([typists([alice], at: 2)]) { $0.exclusions = [outsider] }) == [.audience])
        #expect(broken(judge([typists([], at: 2)]) { $0.exclusions = [outsider] }).isEmpty)
        let shown = judge([typists([alice], at: 2)]) {
            $0.exclusions = [Exclusion(user: alice, conversation: room, since: nil)]
        }
        #expect(broken(shown) == [.audience])
        let elsewhere = judge([typists([alice], at: 2)]) {
            $0.exclusions = [Exclusion(user: alice, conversation: "c2", since: nil)]
        }
        #expect(broken(elsewhere).isEmpty)
    }

    @Test("one second after their removal, a member sees no typing and may not type")
    func removed() {
        let removed = Exclusion(user: "watcher", conversation: room, since: at(2))
        for (moment, isBroken) in [(2.9, false), (3.1, true)] {
            for event in [Note.Event.joined(room, asked: at(moment)), .signalled(room, asked: at(moment))] {
                #expect(broken(judge([note(event, at: moment)]) { $0.exclusions = [removed] }).isEmpty != isBroken)
            }
            let shown = [typists([alice], at: moment), typists([], at: moment + 0.05)]
            #expect(broken(judge(shown) { $0.exclusions = [removed] }).isEmpty != isBroken)
        }
    }

    @Test("typing that a removed member still sees counts until the worker reports the removal")
    func staysShown() {
        let removed = Exclusion(user: "watcher", conversation: room, since: at(2))
        let stays = [typists([alice], at: 1)]
        #expect(broken(judge(stays) { $0.exclusions = [removed] }) == [.audience])
        for event in [Note.Event.removed(room), .ended(host: 0, nil)] {
            let findings = judge(stays + [note(event, at: 2.5)]) {
                $0.exclusions = [removed]
                $0.gone = [(0, at(2))]
            }
            #expect(broken(findings).isEmpty)
        }
    }

    @Test("a removed member who is still shown to others breaks the promise")
    func removedIsShown() {
        for (gone, isBroken) in [(2.9, false), (3.1, true)] {
            let findings = judge([typists([alice], at: 1), typists([], at: gone)]) {
                $0.exclusions = [Exclusion(user: alice, conversation: room, since: at(2))]
            }
            #expect(broken(findings).isEmpty != isBroken)
        }
    }

    @Test("a worker that cannot know of a removal has two seconds once it can; a lost member list excuses everything")
    func removedWhileBlind() {
        let removed = Exclusion(user: "watcher", conversation: room, since: at(2))
        for (moment, isBroken) in [(6.9, false), (7.1, true)] {
            let shown = [typists([alice], at: moment), typists([], at: moment + 0.05)]
            let blind = judge(shown) { ($0.exclusions, $0.blind) = ([removed], [(0, at(2.5)..<at(5))]) }
            #expect(broken(blind).isEmpty != isBroken)
            let unknown = judge(shown) { ($0.exclusions, $0.membersUnknown) = ([removed], [at(1)..<at(7)]) }
            #expect(broken(unknown).isEmpty != isBroken)
        }
        let settledBefore = judge([typists([alice], at: 6)]) {
            ($0.exclusions, $0.blind) = ([removed], [(0, at(3.5)..<at(7))])
        }
        #expect(broken(settledBefore) == [.audience])
    }

    // MARK: Diaries

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

    private func shown(
        _ status: PresenceStatus, at seconds: Double, version: Int64 = 1, seen: Int64? = nil
    ) -> Note {
        let moment = seen.map { Timestamp(milliseconds: $0) }
        let presence = Presence(user: alice, status: status, lastSeen: moment, updatedAt: moment, version: version)
        return note(.presence(presence), at: seconds)
    }

    private func here(_ users: [UserID], at seconds: Double) -> Note {
        let users = users.map { HereUser(user: $0, since: Timestamp(milliseconds: 1)) }
        return note(.here(.init(conversation: room, users: users, count: users.count)), at: seconds)
    }

    private func typists(_ users: [UserID], at seconds: Double) -> Note {
        let typists = users.map { Typist(user: $0) }
        return note(.typing(.init(conversation: room, users: typists, count: typists.count)), at: seconds)
    }
}
