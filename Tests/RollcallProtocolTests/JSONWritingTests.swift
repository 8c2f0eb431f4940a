// Writing, as far as the golden frames do not cover it.

import Foundation
import RollcallProtocol
import TestSupport
import Testing

@Suite struct JSONWritingTests {
    /// What Foundation writes.
    private func written(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return Array(try encoder.encode(value))
    }

    @Test("every character is written as by Foundation, escaped only where necessary")
    func characters() throws {
        let low = (0...0x800).compactMap(Unicode.Scalar.init)
        let high: [Unicode.Scalar] = [
            "\u{2028}", "\u{2029}", "\u{d7ff}", "\u{e000}", "\u{fffd}", "\u{ffff}", "\u{10ffff}",
        ]
        for scalar in low + high {
            let text = "a\(scalar)\(scalar)b"
            #expect(try text.jsonText == written(text), "\(scalar.value)")
        }
    }

    @Test("numbers are written as by Foundation")
    func numbers() throws {
        for number in [Int64.min, -10, -1, 0, 9, 10, 99, 100, 1_784_599_990_000, .max] {
            #expect(try number.jsonText == written(number))
        }
        var numbers = [0.1, -0.0, .leastNonzeroMagnitude, 1e15, 1e16, 1e17, 2.5, -1e300]
        randomised("numbers") { random in
            numbers += (0..<2_000).map { _ in Double(bitPattern: random.next()) }.filter(\.isFinite)
        }
        for number in numbers {
            #expect(try MessageID.number(number).jsonText == written(number), "\(number)")
        }
    }

    @Test("a text that is not contiguous is written like a copy of it")
    func substrings() {
        let whole = "xx\"ä\"yy"
        let part = String(whole.dropFirst(2).dropLast(2))
        #expect(String(decoding: part.jsonText, as: UTF8.self) == #""\"ä\"""#)
    }

    @Test("the written size equals the computed size")
    func size() {
        for (_, message) in Golden.messages { #expect(message.jsonText.count == message.jsonSize) }
        for (_, request) in Golden.requests { #expect(request.jsonText.count == request.jsonSize) }
    }
}
