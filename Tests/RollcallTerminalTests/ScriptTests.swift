import RollcallTerminal
import Testing

@Suite("A script")
struct ScriptTests {
    private func read(_ text: String) throws(ScriptProblems) -> Script {
        try Script(text) {
            ["1s": .seconds(1), "100ms": .milliseconds(100), "0s": .zero, "30d": .seconds(2_592_000)][$0]
        }
    }

    /// Returns the problems of a script.
    private func problems(_ text: String) -> [String] {
        do {
            _ = try read(text)
            return []
        } catch {
            return error.description(of: "demo").split(separator: "\n").map(String.init)
        }
    }

    @Test("has one command per line")
    func steps() throws {
        let script = try read(
            """
            # A greeting
            pace 100ms
            type Hello,  you

              erase 3
            wait 1s
            paste 👍
            erase
            background
            foreground
            idle
            leave
            enter
            send
            repeat 2
            """)
        #expect(
            script.steps == [
                .pace(.milliseconds(100)), .type("Hello,  you"), .erase(3), .wait(.seconds(1)), .paste("👍"),
                .erase(nil),
                .background, .foreground, .idle, .leave, .enter, .send,
            ])
        #expect(script.rounds == 2)
        #expect(try read("wait 1s\r\nrepeat\r\n").rounds == nil)
    }

    @Test("is typed letter by letter, at its pace")
    func acts() throws {
        let acts = try read("pace 100ms\ntype né\nsend\nwait 1s\nleave").acts
        let pace = Duration.milliseconds(100)
        #expect(
            acts == [
                Act(after: pace, .press(.text("n"))), Act(after: pace, .press(.text("é"))), Act(.press(.enter)),
                Act(after: .seconds(1), .nothing), Act(.leave),
            ])
        #expect(try read("type a").acts == [Act(after: Script.usualPace, .press(.text("a")))])
    }

    @Test("reports each wrong line, with advice")
    func wrong() {
        let found = problems(
            "tpye Hello\n\nwait soon\nhello\npause 1s\nerase x\ntype\nsend Hello\nbackground now\nwait 30d")
        #expect(
            found == [
                "demo:1: there is no \"tpye\"; write type Hello",
                "demo:3: wait wants a time of a day at most, such as 250ms, 1s or 2m; write wait 1s",
                "demo:4: there is no \"hello\"; a line begins with one of type, paste, erase, send, wait, pace, "
                    + "background, foreground, idle, leave, enter, repeat, or with #",
                "demo:5: there is no \"pause\"; write wait 1s",
                "demo:6: erase wants a number of characters, not \"x\"; write erase 3, or erase for all",
                "demo:7: type wants a text; write type Hello",
                "demo:8: send stands alone; write type Hello above it",
                "demo:9: background stands alone; take \"now\" away",
                "demo:10: wait wants a time of a day at most, such as 250ms, 1s or 2m; write wait 1s",
            ])
    }

    @Test("must do something, and not loop forever")
    func empty() {
        #expect(problems("# nothing\n") == ["demo:1: the script does nothing; write, say, type Hello"])
        #expect(
            problems("send\nwait 0s\nrepeat") == [
                "demo:3: repeat needs something that takes time; write wait 1s above it"
            ])
        #expect(
            problems("pace 0s\ntype a\nrepeat") == ["demo:1: pace wants a time above 0; to write at once, write paste"])
        #expect(problems("wait 1s\nrepeat\nsend") == ["demo:3: nothing can follow repeat; move it to the end"])
        #expect(problems("wait 1s\nrepeat 0").count == 1)
    }

    @Test("a wrong line cannot send control sequences to the terminal", arguments: ["\u{1B}[2J", "type\u{7}x"])
    func hostile(line: String) {
        #expect(
            problems(line).allSatisfy { $0.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control } })
    }

    @Test("typing for a while neither empties the field nor fills it for good")
    func endless() {
        var field = LineEditor()
        var unchanged = 0
        for act in (0..<1_000).flatMap({ _ in Script.endless.acts }) {
            guard case .press(let key) = act.deed else { continue }
            unchanged = field.pressed(key) ? 0 : unchanged + 1
            #expect(!field.isEmpty && unchanged < 3)
        }
    }
}
