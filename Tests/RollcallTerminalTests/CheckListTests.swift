import RollcallTerminal
import Testing

@Suite("A list of checks")
struct CheckListTests {
    private let list = CheckList([
        CheckList.Item(.ok, "version", "Redis 7.0.15"),
        CheckList.Item(
            .failure, "eviction", "allkeys-lru: to make room it throws keys away", advice: "take noeviction"),
        CheckList.Item(.skipped, "slow commands", "could not look"),
        CheckList.Item(.failure, "role", "a replica", advice: "take the primary, as redis.url"),
    ])

    private func text(_ columns: Int) -> String { list.lines(columns: columns).map(\.text).joined(separator: "\n") }

    @Test("has aligned columns, with the advice below each finding")
    func wide() {
        #expect(
            text(60) == """
                ok       version        Redis 7.0.15
                failure  eviction       allkeys-lru: to make room it throws
                                        keys away
                                        → take noeviction
                skipped  slow commands  could not look
                failure  role           a replica
                                        → take the primary, as redis.url

                2 failures, 1 skipped, 1 ok
                """)
    }

    @Test("shows the text below its title on a narrow terminal")
    func narrow() {
        #expect(
            text(30) == """
                ok       version
                  Redis 7.0.15
                failure  eviction
                  allkeys-lru: to make room it
                  throws keys away
                  → take noeviction
                skipped  slow commands
                  could not look
                failure  role
                  a replica
                  → take the primary, as
                    redis.url

                2 failures, 1 skipped, 1 ok
                """)
    }

    @Test("fits any number of columns", arguments: 1...130)
    func fits(columns: Int) {
        for line in list.lines(columns: columns) where columns > 12 {
            #expect(Cells.width(of: line.text) <= columns, "\(line.text)")
        }
    }

    @Test("text from outside cannot send control sequences to the terminal, with or without colours")
    func hostile() {
        let list = CheckList([CheckList.Item(.warning, "keys", "presence:{\u{1B}[2J\u{9B}5n}", advice: "\u{7}")])
        for painter in [Painter(usesColours: true), Painter(usesColours: false)] {
            let text = list.lines(columns: 80).map(painter.printing).joined(separator: "\n")
            #expect(!text.contains("\u{1B}[2J") && !text.contains("\u{9B}") && !text.contains("\u{7}"))
            #expect(text.contains("␛[2J"))
        }
    }

    @Test("is printed as text, with colours if they are enabled")
    func printed() {
        let line = list.lines(columns: 80)[1]
        #expect(Painter(usesColours: false).printing(of: line) == line.text)
        #expect(Painter(usesColours: true).printing(of: line).hasPrefix("\u{1B}[31mfailure\u{1B}[0m  eviction"))
    }
}
