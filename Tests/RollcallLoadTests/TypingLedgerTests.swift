import RollcallLoad
import Testing

@Suite("Typing, from when it was due until it is shown")
struct TypingLedgerTests {
    private let start = Moment.now
    private var tally = Tally()
    private var ledger = TypingLedger([10, 11, 12])

    private func picture(_ bits: UInt64, isComplete: Bool = true) -> TypingPicture {
        TypingPicture(talk: 0, typing: bits, isComplete: isComplete)
    }

    @Test("is measured from when the signal was due, for each observer and not for the typing user")
    mutating func latency() throws {
        for observer in [10, 11, 12] { ledger.joined(observer) }
        ledger.changed(10, to: true, due: start, &tally)
        #expect(tally.expected == 2)
        ledger.heard(11, picture(1), at: start + .milliseconds(3), &tally)
        ledger.heard(12, picture(1), at: start + .milliseconds(9), &tally)
        ledger.changed(10, to: false, due: start + .seconds(1), &tally)
        ledger.heard(11, picture(0), at: start + .milliseconds(1_005), &tally)
        #expect((tally.changes, tally.expected, tally.seen) == (2, 4, 3))
        #expect(tally.typing.count == 3)
        #expect(abs(try #require(tally.typing.milliseconds(1)) - 9) < 0.01)
        #expect(abs(try #require(tally.typing.milliseconds(0.5)) - 5) < 0.01)
    }

    @Test("leaves out repetitions and what was over before it was shown")
    mutating func overtaken() {
        for observer in [10, 11] { ledger.joined(observer) }
        ledger.changed(10, to: true, due: start, &tally)
        ledger.changed(10, to: false, due: start + .milliseconds(5), &tally)
        ledger.heard(11, picture(0), at: start + .milliseconds(6), &tally)
        ledger.changed(10, to: false, due: start + .milliseconds(7), &tally)
        #expect((tally.changes, tally.expected, tally.seen) == (2, 2, 0))
    }

    @Test("does not count the state at the time of a join")
    mutating func snapshot() {
        ledger.joined(10)
        ledger.changed(10, to: true, due: start, &tally)
        ledger.heard(11, picture(1), at: start + .seconds(1), &tally)
        ledger.joined(11)
        #expect((tally.expected, tally.seen) == (0, 0))
        ledger.changed(10, to: false, due: start + .seconds(2), &tally)
        ledger.heard(11, picture(0), at: start + .seconds(2), &tally)
        #expect((tally.expected, tally.seen) == (1, 1))
    }

    @Test("expects nothing of observers that left, and ends the typing of disconnected devices")
    mutating func leaving() {
        for observer in [10, 11, 12] { ledger.joined(observer) }
        ledger.changed(10, to: true, due: start, &tally)
        ledger.left(11, &tally)
        #expect(tally.expected == 1)
        ledger.heard(12, picture(1), at: start, &tally)
        ledger.gone(10, at: start + .seconds(1), &tally)
        ledger.heard(12, picture(0), at: start + .milliseconds(1_001), &tally)
        #expect((tally.changes, tally.expected, tally.seen) == (2, 2, 2))
    }

    @Test("draws no conclusion from a truncated list")
    mutating func conflated() {
        for observer in [10, 11] { ledger.joined(observer) }
        ledger.changed(10, to: true, due: start, &tally)
        ledger.heard(11, picture(0, isComplete: false), at: start, &tally)
        ledger.heard(11, picture(1), at: start, &tally)
        #expect(tally.seen == 0)
        ledger.changed(10, to: false, due: start, &tally)
        ledger.heard(11, picture(0), at: start, &tally)
        #expect(tally.seen == 1)
        // Others are named instead of those that this observer saw.
        ledger.changed(10, to: true, due: start, &tally)
        ledger.heard(11, picture(1), at: start, &tally)
        ledger.heard(11, picture(2, isComplete: false), at: start, &tally)
        #expect(tally.seen == 2)
    }
}
