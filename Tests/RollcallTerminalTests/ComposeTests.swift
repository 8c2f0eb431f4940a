import RollcallTerminal
import Testing

@testable import RollcallClient

@Suite("Composing")
struct ComposeTests {
    private let layout = ComposeScreen(
        in: .english, connection: ConnectionText(url: "ws://h/v1/connect", saysName: true))

    private func composing(_ keys: Key...) -> Composition {
        var composition = Composition(in: "c42")
        composition.changed(.connection(.connected(Session(user: "bob", device: "d", session: "s", worker: "w1.1"))))
        for key in keys { _ = composition.pressed(key) }
        return composition
    }

    private func screen(_ composition: Composition, _ columns: Int = 60, _ rows: Int = 10) -> Screen {
        layout.screen(of: composition, on: Size(columns: columns, rows: rows))
    }

    @Test("keys that change the text are edits, Enter sends, all others are ignored")
    func effects() {
        var composition = composing()
        let keys: [(Key, Composition.Effect)] = [
            (.text("H"), .edited("H")), (.left, .nothing), (.paste("O"), .edited("OH")), (.enter, .sent),
            (.clear, .nothing), (.backspace, .nothing), (.leave, .leaves), (.redraw, .redraws),
        ]
        for (key, expected) in keys {
            let effect = composition.pressed(key)
            #expect(effect == expected, "\(key)")
        }
        #expect(composition.sent == "OH" && composition.field.isEmpty)
    }

    @Test("white space alone is not sent")
    func whiteSpace() {
        var composition = composing(.text(" "))
        let effects = [composition.pressed(.enter), composition.pressed(.clear)]
        #expect(effects == [.nothing, .edited("")])
        #expect(composition.sent == nil)
    }

    @Test("others' typing is shown above the field with the cursor")
    func layOut() {
        var composition = composing(.paste("Hey"), .enter, .paste("Hello"), .left)
        composition.changed(.typing(Typing(conversation: "c42", typists: [Typist(user: "alice", name: "Alice")])))
        let screen = screen(composition)
        #expect(
            screen.text == """
                c42  connected to w1.1 as bob
                sent: Hey
                Alice is typing…
                › Hello

                Enter sends · Esc clears · Ctrl-C leaves
                """)
        #expect(screen.cursor == Screen.Cursor(line: 3, span: 2))
        #expect(screen.lines[3].spans.map(\.text) == ["› ", "Hell", "o"])
    }

    @Test("with fewer rows, the least important ones are dropped", arguments: 1...6)
    func lowTerminal(rows: Int) {
        var composition = composing(.paste("Hello"))
        composition.changed(.typing(Typing(conversation: "c42", typists: [Typist(user: "alice")])))
        let screen = screen(composition, 30, rows)
        #expect(screen.lines.count == rows)
        #expect(screen.cursor.map { screen.lines[$0.line].text } == "› Hello")
        #expect(rows < 2 || screen.text.contains("alice is typing…"))
        #expect(rows < 3 || screen.text.contains("c42"))
    }

    @Test("no line is wider than the terminal", arguments: 1...40)
    func narrowTerminal(columns: Int) {
        var composition = composing(.paste("日本語日本語日本語日本語"), .enter, .paste("👍🏽 and שלום e\u{301} for all of you"))
        composition.changed(.typing(Typing(conversation: "c42", typists: [Typist(user: "a", name: "日本語の長い名前です")])))
        for line in screen(composition, columns).lines where columns > 3 {
            #expect(Cells.width(of: line.text) <= columns)
        }
    }

    @Test("a name cannot send control sequences to the terminal")
    func hostileName() {
        var composition = composing(.paste("x"))
        composition.changed(
            .typing(
                Typing(conversation: "c42", typists: [Typist(user: "eve", name: "\u{1B}[2J\u{9B}5n\u{7}\u{202E}Eve")])))
        let drawn = Painter(usesColours: false).drawing(of: screen(composition), on: Size(columns: 60, rows: 10))
        #expect(drawn.contains("Eve is typing…"))
        #expect(!drawn.contains("\u{1B}[2J") && !drawn.unicodeScalars.contains("\u{9B}") && !drawn.contains("\u{7}"))
        #expect(!drawn.unicodeScalars.contains("\u{202E}"))
    }

    @Test("a script's actions besides typing are reported")
    func aside() {
        var composition = composing()
        composition.did(.background)
        #expect(screen(composition).lines[0].text == "c42  in the background")
        composition.did(.foreground)
        #expect(composition.aside == nil)
    }
}
