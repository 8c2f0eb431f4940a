// Strings in JSON text. Most contain no escapes and are read without a copy.

/// A string in a text that is known to be valid JSON.
struct JSONString {
    /// The bytes between the quotes.
    private let written: UnsafeRawBufferPointer
    private let isEscaped: Bool
    /// The index after the closing quote.
    let end: Int

    /// - Parameter start: the index of the opening quote.
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

    /// The text; `nil` if an escape is half of a surrogate pair, which is not text.
    var text: ByteString? { isEscaped ? unescaped : ByteString(decoding: written) }

    /// Whether this is the given name, with or without escapes.
    func `is`(_ name: StaticString) -> Bool {
        guard isEscaped else { return written.spells(name) }
        // An escape is longer than its character, and at most six times as long. Other lengths are rejected without
        // unescaping.
        let length = name.utf8CodeUnitCount
        guard length < written.count, written.count <= length * 6 else { return false }
        return unescaped?.utf8.elementsEqual(name.bytes) == true
    }
}

// Escapes.
extension JSONString {
    /// The unescaped text, written directly into its memory. It is never longer than the escaped text.
    private var unescaped: ByteString? {
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
        return isText ? ByteString(text) : nil
    }

    /// - Parameter index: the index of the backslash; moved behind the escape, or behind both escapes of a surrogate
    ///   pair.
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

    /// Reads four hexadecimal digits.
    private func unit(at index: inout Int) -> UInt32 {
        defer { index += 4 }
        return written[index..<index + 4].reduce(0) { $0 << 4 | ($1.hexadecimalValue ?? 0) }
    }
}
