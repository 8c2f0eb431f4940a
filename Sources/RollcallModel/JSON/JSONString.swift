// Strings. Most stand in the text as they are; the others have escapes.

/// A string in a text that is known to be JSON.
struct JSONString {
    /// What stands between the quotes.
    private let written: UnsafeRawBufferPointer
    private let isEscaped: Bool
    /// Where in the text it ends, right behind the closing quote.
    let end: Int

    /// - Parameter start: the place of its opening quote.
    init(in bytes: UnsafeRawBufferPointer, at start: Int) {
        var index = start + 1
        var isEscaped = false
        while bytes[index] != UInt8(ascii: "\"") {
            if bytes[index] == UInt8(ascii: "\\") {
                isEscaped = true
                index += 1
            }
            index += 1
        }
        written = UnsafeRawBufferPointer(rebasing: bytes[start + 1..<index])
        self.isEscaped = isEscaped
        end = index + 1
    }

    /// The text; `nil` where an escape is half of a surrogate pair, which is no text.
    var text: String? { isEscaped ? unescaped : String(decoding: written, as: UTF8.self) }

    /// Whether it is a certain name, however it is written.
    func `is`(_ name: StaticString) -> Bool {
        guard isEscaped else { return written.spells(name) }
        // An escape is longer than what it stands for, and at most six times as long: what cannot be it is not unescaped.
        let length = name.utf8CodeUnitCount
        guard length < written.count, written.count <= length * 6 else { return false }
        return unescaped?.utf8.elementsEqual(name.bytes) == true
    }
}

// Escapes.
extension JSONString {
    /// The text, straight in its own memory. An escape is longer than what it stands for.
    private var unescaped: String? {
        var isText = true
        let text = String(unsafeUninitializedCapacity: written.count) { text in
            var (index, count) = (0, 0)
            while index < written.count {
                guard written[index] == UInt8(ascii: "\\") else {
                    text[count] = written[index]
                    (index, count) = (index + 1, count + 1)
                    continue
                }
                guard let character = character(escapedAt: &index), let bytes = UTF8.encode(character) else {
                    isText = false
                    return 0
                }
                for byte in bytes {
                    text[count] = byte
                    count += 1
                }
            }
            return count
        }
        return isText ? text : nil
    }

    /// - Parameter index: that of the backslash; left behind the escape, or behind both of a pair.
    private func character(escapedAt index: inout Int) -> Unicode.Scalar? {
        let sign = written[index + 1]
        index += 2
        switch sign {
        case "b": return "\u{8}"
        case "f": return "\u{C}"
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "u": return character(ofUnitsAt: &index)
        default: return Unicode.Scalar(sign)
        }
    }

    private func character(ofUnitsAt index: inout Int) -> Unicode.Scalar? {
        let unit = self.unit(at: &index)
        guard UTF16.isLeadSurrogate(UInt16(unit)), written.holds("\\u", at: index) else { return Unicode.Scalar(unit) }
        index += 2
        let second = self.unit(at: &index)
        guard UTF16.isTrailSurrogate(UInt16(second)) else { return nil }
        return Unicode.Scalar(0x1_0000 + ((unit & 0x3FF) << 10) + (second & 0x3FF))
    }

    /// Four hexadecimal digits.
    private func unit(at index: inout Int) -> UInt32 {
        defer { index += 4 }
        return written[index..<index + 4].reduce(0) { $0 << 4 | ($1.hexadecimalValue ?? 0) }
    }
}
