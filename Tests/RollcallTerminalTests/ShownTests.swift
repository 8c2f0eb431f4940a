import RollcallTerminal
import Testing

@Suite("Text from outside")
struct ShownTests {
    @Test("no control character of a name reaches a terminal")
    func controls() {
        for value in (0..<0xA0 as Range<UInt32>) {
            guard let scalar = Unicode.Scalar(value), scalar.properties.generalCategory == .control else { continue }
            for shown in [Shown.text("a\(scalar)b"), Shown.name("a\(scalar)b") ?? "", Shown.json("\"a\(scalar)b\"")] {
                #expect(!shown.unicodeScalars.contains { $0.properties.generalCategory == .control })
            }
        }
        #expect(Shown.text("\u{1B}]0;owned\u{7}\u{9B}2J\u{7F}") == "␛]0;owned␇\u{FFFD}2J␡")
        #expect(Shown.json("\"\u{9B}2J\"") == #""\u009b2J""#)
    }

    @Test("bidirectional controls are removed, except for the isolates around names in Rollcall's own sentences")
    func order() {
        for value in [0x61C, 0x200E, 0x200F] + Array(0x202A...0x202E) + Array(0x2066...0x2069) as [UInt32] {
            guard let scalar = Unicode.Scalar(value) else { continue }
            #expect(Shown.text("a\(scalar)b") == "a\u{FFFD}b")
            #expect(
                Shown.json("\"a\(scalar)b\"") == "\"a\\u" + (value < 0x1000 ? "0" : "") + String(value, radix: 16)
                    + "b\"")
            #expect((Shown.sentence("a\(scalar)b") == "a\u{FFFD}b") == ![0x2068, 0x2069].contains(value))
        }
    }

    @Test("a name is one line, without bidirectional controls")
    func names() {
        #expect(Shown.name(" Alice \u{202E} B  C\u{2067} ") == "Alice B C")
        #expect(Shown.name("Zoë 👩‍👩‍👧") == "Zoë 👩‍👩‍👧")
        for nothing in ["", "  ", "\u{202E}", "\u{200B}"] { #expect(Shown.name(nothing) == nil) }
    }
}
