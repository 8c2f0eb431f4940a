import RollcallTerminal
import TestSupport
import Testing

@Suite("Key decoding")
struct KeyDecoderTests {
    private func keys(_ text: String) -> [Key] {
        var decoder = KeyDecoder()
        return decoder.received(text.utf8)
    }

    @Test("letters, and the keys that terminals have sequences for")
    func usual() {
        #expect(keys("aé日👍") == [.text("a"), .text("é"), .text("日"), .text("👍")])
        #expect(keys("\r\n\u{7F}\u{8}") == [.enter, .enter, .backspace, .backspace])
        #expect(keys("\u{1}\u{5}\u{15}\u{17}\u{B}\u{4}") == [.home, .end, .clear, .deleteWord, .deleteToEnd, .leave])
        #expect(keys("\u{1B}[C\u{1B}[D\u{1B}OC\u{1B}OH\u{1B}[3~") == [.right, .left, .right, .home, .delete])
        #expect(keys("\u{1B}[1;5D\u{1B}f\u{1B}\u{7F}") == [.wordLeft, .wordRight, .deleteWord])
    }

    @Test("unknown keys are ignored, and leave nothing behind")
    func unknown() {
        #expect(keys("\u{1B}[15~\u{1B}[<0;3;4M\u{1B}OP\u{1B}x\u{2}\u{1F}a") == [.left, .text("a")])
        #expect(keys("\u{1B}[[A\u{1B}[[Ea") == [.text("a")], "F1 and F5 of Linux's own console")
        #expect(keys("\u{1B}[" + String(repeating: "1;", count: 100) + "a").last == .text("a"))
    }

    @Test("Escape is a key once nothing follows it")
    func escape() {
        var decoder = KeyDecoder()
        var keys = decoder.received([0x1B])
        #expect(keys == [] && decoder.waits)
        keys = decoder.paused()
        #expect(keys == [.clear] && !decoder.waits)
        keys = decoder.received([0x1B, 0x1B])
        #expect(keys == [.clear] && decoder.waits)
        keys = decoder.received("[D\u{1B}[".utf8)
        #expect(keys == [.left] && decoder.waits)
        keys = decoder.paused() + decoder.received("D".utf8)
        #expect(keys == [.text("D")])
    }

    @Test("pasted text is one text, with all of its characters")
    func paste() {
        #expect(
            keys("a\u{1B}[200~x\n\u{1B}[Ay\u{3}\u{1B}[201~b") == [.text("a"), .paste("x\n\u{1B}[Ay\u{3}"), .text("b")])
        #expect(keys("\u{1B}[200~\u{1B}[201~") == [.paste("")])
        let long = String(repeating: "x", count: KeyDecoder.longestPaste + 10)
        #expect(keys("\u{1B}[200~\(long)\u{1B}[201~a") == [.paste(String(long.dropLast(10))), .text("a")])
    }

    @Test("invalid UTF-8 is dropped, and the next letter counts")
    func invalid() {
        var decoder = KeyDecoder()
        let cases: [([UInt8], Key)] = [
            ([0xFF, 0x80, 0xC0, 0xE6, 0x97, 0x61], .text("a")), ([0xE6, 0x1B, 0x5B, 0x44], .left),
            ([0xED, 0xA0, 0x80, 0x62], .text("b")), (Array("\u{9B}J".utf8), .text("J")),
        ]
        for (bytes, key) in cases {
            let keys = decoder.received(bytes)
            #expect(keys == [key])
        }
    }

    @Test("the result does not depend on how the bytes are split")
    func pieces() throws {
        let text = "aé日\u{1B}[D\u{1B}[200~p\u{1B}q日\u{1B}[201~\u{15}👍\u{1B}OH\r"
        randomised("pieces") { random in
            for _ in 0..<200 {
                var decoder = KeyDecoder()
                var keys: [Key] = []
                var rest = Array(text.utf8)[...]
                while !rest.isEmpty {
                    let piece = rest.prefix(Int.random(in: 1...5, using: &random))
                    rest = rest.dropFirst(piece.count)
                    keys += decoder.received(piece)
                }
                #expect(keys == self.keys(text))
            }
        }
    }

    @Test("random bytes cause no crash, and only pasted text contains control characters")
    func noise() {
        randomised("noise") { random in
            var decoder = KeyDecoder()
            for _ in 0..<20_000 {
                let bytes = (0..<4).map { _ in UInt8.random(in: 0...255, using: &random) }
                for case .text(let text) in decoder.received(bytes) {
                    #expect(text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
                }
            }
        }
    }
}
