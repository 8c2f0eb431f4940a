import RollcallLoad
import Testing

@Suite("Typing, from when it was due to the eye")
struct TypingLedgerTests {
    private let start = Moment.now
    private var tally = Tally()
    private var ledger = TypingLedger([10, 11, 12])

    private func picture(_ bits: UInt64, isComplete: Bool = true) -> TypingPicture {
        TypingPicture(talk: 0, typing: bits, isComplete: isComplete)
    }

    @Test("counts from when the signal was due, for each who sees it and not for the typist")
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

    @Test("leaves out what was over before it was shown, and repetitions")
    mutating func overtaken() {
        for observer in [10, 11] { ledger.joined(observer) }
        ledger.changed(10, to: true, due: start, &tally)
        ledger.changed(10, to: false, due: start + .milliseconds(5), &tally)
        ledger.heard(11, picture(0), at: start + .milliseconds(6), &tally)
        ledger.changed(10, to: false, due: start + .milliseconds(7), &tally)
        #expect((tally.changes, tally.expected, tally.seen) == (2, 2, 0))
    }

    @Test("does not count how things stood when somebody joined")
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

    @Test("expects nothing more of those who left, and ends the typing of those whose connection ended")
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

    @Test("draws no conclusion from a list that is cut short")
    mutating func conflated() {
        for observer in [10, 11] { ledger.joined(observer) }
        ledger.changed(10, to: true, due: start, &tally)
        ledger.heard(11, picture(0, isComplete: false), at: start, &tally)
        ledger.heard(11, picture(1), at: start, &tally)
        #expect(tally.seen == 0)
        ledger.changed(10, to: false, due: start, &tally)
        ledger.heard(11, picture(0), at: start, &tally)
        #expect(tally.seen == 1)
        // Others are named in the place of whom this one saw.
        ledger.changed(10, to: true, due: start, &tally)
        ledger.heard(11, picture(1), at: start, &tally)
        ledger.heard(11, picture(2, isComplete: false), at: start, &tally)
        #expect(tally.seen == 2)
    }
}
