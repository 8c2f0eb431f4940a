import RollcallModel
import RollcallTerminal
import Testing

@Suite("The live view of workers")
struct TopScreenTests {
    private func screen(_ board: TopBoard = Examples.board, _ columns: Int = 110, _ rows: Int = 40) -> Screen {
        TopScreen().screen(of: board, on: Size(columns: columns, rows: rows))
    }

    @Test("shows totals with their last minute, workers, conversations and events")
    func layOut() {
        let bars = String(repeating: " ", count: 57)
        #expect(
            screen().text == """
                w1.3f9a2c417b06 · ready · Redis p50 0.2 ms, p99 12 ms · http://127.0.0.1:8081

                workers          2  1 dead
                sessions       107  \(bars)███
                signals/s       40  \(bars)  █
                published/s     20  \(bars)  █
                deliveries/s  1234  \(bars)  █

                  worker           sessions  signals/s  published/s  deliveries/s   CPU  lease            up  version  host
                ○ w3.71369f331856       100          –            –             –     –  dead 5.0 s      2 h  0.1.0    vm1
                ● w1.3f9a2c417b06       100         40           20          1234  13 %  4.6 s           2 h  0.1.0    vm1
                ◐ w2.28a2222a6c16         7          –            –             –     –  draining 4.6 s  2 h  0.0.9    vm1

                busiest conversations
                c42    12 typing, 80 joined here
                lobby  3 typing, 4000 joined here

                events of w1.3f9a2c417b06
                2.0 s ago  notice  swept a dead worker  devices=12  worker=w9.0
                1 min ago  warning  Redis is away  (3 times)
                """)
    }

    @Test("twenty columns are enough for the workers and their sessions")
    func narrow() {
        let text = screen(Examples.board, 20).text
        #expect(text.contains("● w1.3f9a…       100"))
        #expect(text.contains("signals/s       40"))
    }

    @Test("fits any terminal size", arguments: [1, 4, 12, 20, 33, 60, 80, 120, 200])
    func fits(columns: Int) {
        var board = Examples.board
        for _ in 0..<2 {
            for rows in 1...30 {
                let lines = screen(board, columns, rows).lines
                #expect(lines.count <= max(rows, 3), "\(columns)×\(rows)")
                guard columns >= 20 else { continue }
                for line in lines { #expect(Cells.width(of: line.text) <= columns, "\(line.text)") }
            }
            board.failed("no worker answers at http://127.0.0.1:8081: Connection refused", at: Examples.now)
        }
    }

    @Test("a low terminal keeps the workers, and says how many are hidden")
    func low() {
        let lines = screen(Examples.board, 80, 10).lines
        #expect(lines.count == 10 && lines.last?.text == "… 3 more workers")
        #expect(screen(Examples.board, 80, 11).text.contains("○ w3.71369f331856"), "the dead stay longest")
        #expect(screen(Examples.board, 80, 15).text.contains("w2.28a2222a6c16"))
        #expect(screen(Examples.board, 80, 19).text.contains("busiest conversations"))
    }

    @Test("keeps the last figures while no answer arrives, and says for how long")
    func away() {
        var board = Examples.board
        board.failed("no worker answers", at: Examples.now)
        board.failed("no worker answers", at: Examples.now.advanced(by: .seconds(75)))
        let text = screen(board).text
        #expect(text.hasPrefix("No answer for 1 min: no worker answers. What is shown is what was last known."))
        #expect(text.contains("● w1.3f9a2c417b06"))
    }

    @Test("reports that Redis is away, and workers that are not ready")
    func notReady() {
        var figures = Examples.figures(after: 3)
        (figures.isReady, figures.redis.isUp) = (false, false)
        var board = Examples.board
        board.answered(figures)
        #expect(
            screen(board).lines[0].spans[0]
                == Span("w1.3f9a2c417b06 · not ready · Redis is away · http://127.0.0.1:8081", .warning))
    }

    @Test("a drained worker whose lease has ended has left, and does not count as dead")
    func left() {
        var figures = Examples.figures(after: 3)
        figures.workers[2].isDraining = true
        var board = Examples.board
        board.answered(figures)
        let text = screen(board).text
        #expect(text.contains("left 6.0 s") && !text.contains("dead 6") && text.contains("workers          2  1 left"))
        #expect(
            text.firstRange(of: "w3")?.lowerBound ?? text.startIndex > text.firstRange(of: "w2.")?.lowerBound
                ?? text.endIndex)
        #expect(board.line.hasPrefix("2 workers and 1 left  "))
    }

    /// Regression: it exited with 69, and the page stayed empty.
    @Test("if Redis is away from the start, the worker's own figures are shown")
    func withoutRedis() {
        var figures = Examples.figures(after: 3)
        (figures.workers, figures.redis.isUp) = ([], false)
        var board = TopBoard(address: "a")
        board.answered(figures)
        let text = screen(board).text
        #expect(text.contains("Redis is away") && text.contains("the workers are not known"))
        #expect(text.contains("swept a dead worker") && text.contains("lobby"))
        #expect(board.line == "Redis is away, and the workers are not known")
    }

    @Test("while Redis is away, the last known workers stay, and this worker's events continue")
    func redisGoes() {
        var figures = Examples.figures(after: 30)
        (figures.workers, figures.redis.isUp) = ([], false)
        figures.events = [.init(at: figures.time, level: "warning", message: "Redis lost")]
        var board = Examples.board
        board.answered(figures)
        #expect(board.figures?.workers == Examples.board.figures?.workers && board.total == Examples.board.total)
        #expect(screen(board).text.contains("lease") && screen(board).text.contains("Redis lost"))
    }

    /// Regression: an event appeared in the future if Redis's clock was behind the host's.
    @Test("the age of an event is measured by the clock that timed it")
    func eventAges() {
        var figures = Examples.figures(after: 3)
        figures.hostTime = figures.time.advanced(by: .seconds(3600))
        figures.events = [.init(at: figures.time.advanced(by: .seconds(3590)), level: "info", message: "m")]
        var board = TopBoard(address: "a")
        board.answered(figures)
        #expect(screen(board).text.contains("10.0 s ago  info  m"))
    }

    @Test("names cannot send control sequences")
    func hostile() {
        var figures = Examples.figures(after: 3)
        let bad = "\u{1B}]0;owned\u{7}\u{9B}2J\u{202E}x"
        figures.conversations = [.init(bad, typing: 1, joined: 1)]
        figures.workers[0].name = bad
        figures.workers[0].host = bad
        figures.events = [.init(at: Examples.now, level: "notice", message: "m", facts: ["f": bad])]
        var board = TopBoard(address: "a")
        board.answered(figures)
        let size = Size(columns: 200, rows: 40)
        let drawn = Painter(usesColours: false).drawing(of: TopScreen().screen(of: board, on: size), on: size)
        for control in ["\u{1B}]", "\u{7}", "\u{9B}"] { #expect(!drawn.contains(control)) }
        #expect(drawn.contains("owned"))
    }
}
