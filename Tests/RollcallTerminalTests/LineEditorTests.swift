import RollcallTerminal
import TestSupport
import Testing

@Suite("A single-line text field")
struct LineEditorTests {
    private func field(_ text: String = "", _ keys: Key...) -> LineEditor {
        var field = LineEditor(text)
        for key in keys { field.pressed(key) }
        return field
    }

    @Test("keys change the text at the cursor")
    func editing() {
        #expect(field("Helo", .left, .text("l")).text == "Hello")
        #expect(field("Hello", .home, .delete, .text("J")).text == "Jello")
        #expect(field("one two", .wordLeft, .deleteToEnd).text == "one ")
        #expect(field("one two ", .deleteWord).text == "one ")
        #expect(field("one two", .home, .wordRight, .text("!")).text == "one! two")
        #expect(field("Hello", .clear).isEmpty)
        #expect(field("a", .left, .left, .right, .right, .end, .text("b")).text == "ab")
    }

    @Test("Backspace deletes a whole character, with all of its parts")
    func graphemes() {
        for character in ["e\u{301}", "👨‍👩‍👧", "🇩🇪", "👍🏽", "한", "שּׁ"] {
            #expect(field("a" + character, .backspace).text == "a")
            #expect(field(character + "b", .home, .delete).text == "b")
        }
        #expect(field("e", .text("\u{301}")).text == "é")
        #expect(field("e", .text("\u{301}"), .backspace).isEmpty)
    }

    @Test("it reports whether the text changed")
    func changes() {
        var field = LineEditor()
        let keys: [(Key, Bool)] = [
            (.backspace, false), (.clear, false), (.left, false), (.text("a"), true), (.home, false),
            (.backspace, false),
            (.delete, true), (.delete, false),
        ]
        for (key, changes) in keys {
            let changed = field.pressed(key)
            #expect(changed == changes, "\(key)")
        }
    }

    @Test("pasted lines become one, without control characters")
    func paste() {
        #expect(field("", .paste("a\r\nb\tc\n\u{1B}[31md\u{2028}e\u{9B}")).text == "a b c [31md e")
    }

    @Test("it accepts text up to its capacity, wherever the cursor is")
    func capacity() {
        let full = field("", .paste(String(repeating: "x", count: 3_000)))
        #expect(full.text.count == LineEditor.capacity)
        var field = full
        field.pressed(.home)
        field.pressed(.text("y"))
        #expect(field.text == full.text)
    }

    @Test("the visible part contains the cursor and fits, for any text")
    func window() {
        #expect(field("Hello").window(of: 10) == ("Hello", ""))
        #expect(field("Hello world").window(of: 8) == ("… world", ""))
        #expect(field("Hello world", .home).window(of: 8) == ("", "Hello …"))
        randomised("window") { random in
            let letters = ["a", "日", "e\u{301}", "👍🏽", "ש", " "]
            for _ in 0..<500 {
                let text = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                    letters.randomElement(using: &random)!
                }
                var field = LineEditor(text.joined())
                for _ in 0..<Int.random(in: 0...20, using: &random) { field.pressed(.left) }
                let width = Int.random(in: 1...30, using: &random)
                let window = field.window(of: width)
                #expect(Cells.width(of: window.before) + Cells.width(of: window.after) <= max(width - 1, 1), "\(width)")
            }
        }
    }
}
