import RollcallModel
import RollcallTerminal
import Testing

@Suite("The computed figures of top")
struct TopBoardTests {
    @Test("a rate is the growth of a total, divided by the time between the worker's heartbeats")
    func rates() {
        let board = Examples.board
        #expect(
            board.rates["w1.3f9a2c417b06"] == LiveRates(signals: 40, published: 20, delivered: 1_234, cpu: 0.125))
        #expect(board.total == board.rates["w1.3f9a2c417b06"])
        #expect(board.sessions == 107, "the dead have none")
    }

    @Test("what an older version does not report is unknown, and dead workers have no rates")
    func unknown() {
        #expect(Examples.board.rates["w2.28a2222a6c16"] == LiveRates())
        #expect(Examples.board.rates["w3.71369f331856"] == nil)
    }

    @Test("a rate stays between two heartbeats, and the next one counts from the last heartbeat")
    func still() {
        var board = Examples.board
        var again = Examples.figures(after: 2)
        again.time = again.time.advanced(by: .milliseconds(500))
        board.answered(again)
        #expect(board.total.signals == 40)
        board.answered(Examples.figures(after: 4))
        #expect(board.total.signals == 40)
    }

    @Test("a total that shrinks, or an answer out of order, gives no rate")
    func shrinks() {
        let (one, two) = (Examples.figures(after: 0).workers[0], Examples.figures(after: 2).workers[0])
        #expect(LiveRates(from: two, to: one) == nil)
        var less = two
        less.totals.signals = 1
        #expect(LiveRates(from: one, to: less)?.signals == nil)
        #expect(LiveRates(from: one, to: less)?.published == 20)
    }

    @Test("workers that are gone are dropped, and a new incarnation starts again")
    func forgotten() {
        var board = Examples.board
        var figures = Examples.figures(after: 3)
        figures.workers[0].name = "w1.another"
        board.answered(figures)
        #expect(board.rates["w1.3f9a2c417b06"] == nil && board.total.signals == nil)
    }

    /// Regression: they did not change until the clock had reached the earlier time again.
    @Test("after Redis's clock was set back, rates and bars start again")
    func setBack() {
        var board = Examples.board
        for (seconds, signals) in [(-600, 2_000), (-598, 2_100)] as [(Int64, Int64)] {
            var figures = Examples.figures(after: seconds)
            figures.workers[0].totals.signals = signals
            board.answered(figures)
            #expect(board.total.signals == (signals == 2_000 ? nil : 50))
        }
        #expect(board.history.signals.text(cells: 1) == "█")
    }

    /// Regression: `rollcall top` crashed, because anyone who can write to Redis can write such numbers.
    @Test("figures beyond all limits are clamped")
    func farFigures() {
        var board = TopBoard(address: "")
        for (limit, step) in [(Int64.max, Int64(1)), (Int64.min, Int64(-1))] {
            var figures = Examples.figures(after: 0)
            figures.workers[0].sessions = limit
            figures.workers[1].sessions = step
            board.answered(figures)
            #expect(board.sessions == limit)
        }
        var (before, after) = (Examples.figures(after: 0).workers[0], Examples.figures(after: 2).workers[0])
        before.totals.signals = Int64.min
        after.totals.signals = Int64.max
        #expect(LiveRates(from: before, to: after)?.signals == 0x1p63)
    }

    @Test("missing values are a gap in the bars")
    func gap() {
        var line = Sparkline()
        line.add(1, at: Examples.now)
        line.add(1, at: Examples.now.advanced(by: .seconds(15)))
        line.miss()
        line.add(1, at: Examples.now.advanced(by: .seconds(50)))
        #expect(line.text(cells: 12) == " ████      █")
    }

    @Test("a missing answer is shown with its time, until the next answer")
    func trouble() {
        var board = Examples.board
        board.failed("refused", at: Examples.now)
        board.failed("refused again", at: Examples.now.advanced(by: .seconds(12)))
        #expect(board.trouble?.until.since(board.trouble?.since ?? Examples.now) == .seconds(12))
        board.answered(Examples.figures(after: 9))
        #expect(board.trouble == nil)
    }

    @Test("bars: the highest fills the line, and one minute is kept")
    func bars() {
        var line = Sparkline()
        #expect(line.text(cells: 4).isEmpty)
        for second in 0..<120 { line.add(Double(second % 60), at: Examples.now.advanced(by: .seconds(second))) }
        #expect(line.text(cells: 6) == "▂▃▄▆▇█")
        #expect(line.text(cells: 60).count == 60)
        line.add(1, at: Examples.now)
        #expect(line.text(cells: 1) == "█")
        var flat = Sparkline()
        flat.add(0, at: Examples.now)
        #expect(flat.text(cells: 3) == "  ▁")
    }

    @Test("a single line where bars cannot be drawn")
    func line() {
        #expect(
            Examples.board.line
                == "2 workers and 1 dead  107 sessions  40 signals/s  20 published/s  1234 deliveries/s  CPU 13 %  "
                + "Redis p99 12 ms")
    }
}
