import RollcallTerminal
import Testing

@testable import RollcallClient

@Suite("The live view")
struct WatchScreenTests {
    static let now = Timestamp(milliseconds: 1_800_000_000_000)

    static func presence(_ user: UserID, _ status: PresenceStatus, ago: Duration? = nil) -> Presence {
        let seen = ago.map { Timestamp(milliseconds: now.milliseconds - $0.components.seconds * 1000) }
        return Presence(user: user, status: status, lastSeen: seen, updatedAt: seen, version: 1)
    }

    private var watched: Watched {
        var watched = Watched(conversations: ["c42"], users: ["dave", "alice", "dave"])
        let people = [
            Member(user: "alice", name: "Alice", presence: Self.presence("alice", .online)),
            Member(user: "bob", name: "日本語", presence: Self.presence("bob", .away)),
            Member(user: "carol", name: "Carol", presence: Self.presence("carol", .offline, ago: .seconds(180))),
            Member(user: "nina"),
        ]
        for change: Change in [
            .connection(.connected(Session(user: "eve", device: "d", session: "s", worker: "w1.1"))),
            .members(Members(conversation: "c42", people: people)),
            .typing(Typing(conversation: "c42", typists: [Typist(user: "alice", name: "Alice")])),
            .presence(Self.presence("dave", .offline, ago: .seconds(12))),
        ] { watched.changed(change) }
        return watched
    }

    private func screen(
        _ watched: Watched, in language: Language = .english, _ columns: Int = 80, _ rows: Int = 24
    ) -> Screen {
        WatchScreen(in: language, connection: ConnectionText(url: "ws://h/v1/connect", saysName: true))
            .screen(of: watched, at: Self.now, on: Size(columns: columns, rows: rows))
    }

    @Test("shows who types, then users with dots, states and last-seen times, in aligned columns")
    func layOut() {
        #expect(
            screen(watched).text == """
                connected to w1.1 as eve

                c42  1 of 4 online
                  Alice is typing…
                  ● Alice   alice  Online
                  ◐ 日本語  bob    Away
                  ○ Carol   carol  Offline  Last seen 3 minutes ago
                  · nina

                  ○ dave           Offline  12 s
                  · Alice   alice
                """)
    }

    @Test("uses the requested language")
    func language() {
        let text = screen(watched, in: .german).text
        for part in ["1 von 4 online", "Alice schreibt", "Abwesend"] { #expect(text.contains(part), "\(text)") }
    }

    @Test("a narrow terminal drops columns, but never the dot and the name", arguments: 1...60)
    func narrow(columns: Int) {
        let screen = screen(watched, columns)
        guard columns > 4 else { return }
        for line in screen.lines { #expect(Cells.width(of: line.text) <= columns, "\(line.text)") }
        #expect(screen.text.contains("  ● "))
        #expect(!screen.text.contains("Last seen") || screen.text.contains("Offline"))
    }

    @Test("a low terminal says how much is hidden", arguments: 1...11)
    func low(rows: Int) {
        let lines = screen(watched, 80, rows).lines
        #expect(lines.count == (rows > 10 ? 11 : min(rows, 9)))
        #expect(rows > 8 || lines.last?.text == "… \(9 - rows + 1) more lines; a taller window shows them")
    }

    @Test("a name cannot send control sequences, nor reverse its line")
    func hostile() {
        var watched = Watched(conversations: ["c42"], users: ["e\u{202E}ve"])
        let name = "\u{1B}]0;owned\u{7}\u{202E}Mallory\n\u{9B}2J"
        let mallory = Member(user: "mallory", name: name, presence: Self.presence("mallory", .online))
        watched.changed(.members(Members(conversation: "c42", people: [mallory])))
        watched.changed(.typing(Typing(conversation: "c42", refusal: RollcallError(.notAMember, "no\u{1B}[2J"))))
        let size = Size(columns: 80, rows: 24)
        let drawn = Painter(usesColours: true).drawing(of: screen(watched), on: size)
        #expect(drawn.contains("␛]0;owned␇Mallory␊\u{FFFD}2J") && drawn.contains("no␛[2J"))
        #expect(
            !drawn.contains("\u{1B}]") && !drawn.contains("\u{1B}[2J") && !drawn.unicodeScalars.contains("\u{202E}"))
        #expect(!drawn.unicodeScalars.contains("\u{9B}") && !drawn.contains("\u{7}"))
    }

    @Test("colours are omitted if they are disabled, without loss of meaning")
    func colours() {
        let size = Size(columns: 80, rows: 24)
        let plain = Painter(usesColours: false).drawing(of: screen(watched), on: size)
        let coloured = Painter(usesColours: true).drawing(of: screen(watched), on: size)
        #expect(coloured.contains("\u{1B}[32m●") && coloured.contains("\u{1B}[33m◐"))
        #expect(!plain.contains("m●") && plain.contains("●") && plain.contains("◐") && plain.contains("○"))
        #expect(!plain.contains(/\u{1B}\[[0-9;]*m/))
    }

    @Test("the environment tells what a terminal supports")
    func kinds() {
        func kind(_ environment: [String: String], isTerminal: Bool = true) -> TerminalKind {
            TerminalKind(isTerminal: isTerminal, environment: environment)
        }
        #expect(kind(["TERM": "xterm"]).canDraw && kind(["TERM": "xterm"]).usesColours)
        #expect(kind(["TERM": "xterm", "NO_COLOR": "1"]).canDraw)
        #expect(
            !kind(["TERM": "xterm", "NO_COLOR": "1"]).usesColours
                && kind(["TERM": "xterm", "NO_COLOR": ""]).usesColours)
        #expect(
            !kind(["TERM": "dumb"]).canDraw && !kind([:]).canDraw && !kind(["TERM": "xterm"], isTerminal: false).canDraw
        )
    }
}
