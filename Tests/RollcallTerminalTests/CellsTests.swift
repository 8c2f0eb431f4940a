import RollcallTerminal
import Testing

@Suite("Widths in cells")
struct CellsTests {
    @Test(
        "a character has the width of the terminal that draws it widest",
        arguments: [
            ("a", 1), ("é", 1), ("e\u{301}", 1), ("日", 2), ("ｱ", 1), ("Ａ", 2), ("한", 2), ("👍", 2), ("👍🏽", 4), ("🇩🇪", 2),
            ("❤", 1), ("❤️", 2), ("\u{200B}", 0), ("ש", 1), ("\u{1F468}\u{200D}\u{1F469}", 4),
        ] as [(String, Int)])
    func characters(text: String, width: Int) {
        #expect(Cells.width(of: text) == width)
    }

    @Test("a text is cut between characters, with an ellipsis")
    func shortened() {
        #expect(Cells.shortened("Alice", to: 5) == "Alice")
        #expect(Cells.shortened("Alice", to: 4) == "Ali…")
        #expect(Cells.shortened("日本語", to: 4) == "日…")
        #expect(Cells.shortened("日本語", to: 5) == "日本…")
        #expect(Cells.shortened("e\u{301}e\u{301}e\u{301}", to: 2) == "e\u{301}…")
        #expect(Cells.shortened("Alice", to: 1) == "…")
        #expect(Cells.shortened("Alice", to: 0) == "")
    }

    @Test("a sentence is wrapped between words")
    func wrapped() {
        #expect(Cells.wrapped("start a worker, or two", to: 9) == ["start a", "worker,", "or two"])
        #expect(Cells.wrapped("ws://127.0.0.1 it is", to: 6) == ["ws://…", "it is"])
        #expect(Cells.wrapped("", to: 6) == [])
    }
}
