// Writes JSON directly to its destination. A value is written twice, the first time only to count the bytes, so that
// memory of the right size is allocated once and never moved.

/// Writes JSON without white space, and escapes only characters that must be escaped. Callers write the fields of an
/// object in alphabetical order, so that equal messages have equal bytes.
package struct JSONWriter {
    /// `nil` while only counting.
    private let memory: UnsafeMutableRawBufferPointer?
    private(set) var count = 0
    /// Whether the innermost array or object is still empty.
    private var isFirst = true

    init(_ memory: UnsafeMutableRawBufferPointer?) {
        self.memory = memory
    }

    /// Writes a field of the current object.
    package mutating func field(_ name: StaticString, _ value: some JSONWritable) {
        separate()
        put(UInt8(ascii: "\""))
        put(UnsafeRawBufferPointer(name.bytes))
        put(UInt8(ascii: "\""))
        put(UInt8(ascii: ":"))
        value.write(to: &self)
    }

    /// Writes a field whose name is not a constant, and may need escapes.
    package mutating func field(named name: String, _ value: some JSONWritable) {
        separate()
        text(name)
        put(UInt8(ascii: ":"))
        value.write(to: &self)
    }

    /// Writes a field, or nothing if the value is `nil`.
    package mutating func optionalField(_ name: StaticString, _ value: (some JSONWritable)?) {
        if let value { field(name, value) }
    }

    package mutating func object(_ fields: (inout JSONWriter) -> Void) {
        put(UInt8(ascii: "{"))
        isFirst = true
        fields(&self)
        isFirst = false
        put(UInt8(ascii: "}"))
    }

    package mutating func list(_ elements: some Sequence<some JSONWritable>) {
        put(UInt8(ascii: "["))
        isFirst = true
        for element in elements {
            separate()
            element.write(to: &self)
        }
        isFirst = false
        put(UInt8(ascii: "]"))
    }

    private mutating func separate() {
        if !isFirst { put(UInt8(ascii: ",")) }
        isFirst = false
    }
}

// Values that contain no other values.
extension JSONWriter {
    package mutating func word(_ word: StaticString) {
        put(UnsafeRawBufferPointer(word.bytes))
    }

    package mutating func integer(_ integer: Int64) {
        if integer < 0 { put(UInt8(ascii: "-")) }
        digits(integer.magnitude)
    }

    private mutating func digits(_ number: UInt64) {
        var digits = 1
        var rest = number
        while rest > 9 {
            rest /= 10
            digits += 1
        }
        if let memory {
            precondition(digits <= memory.count - count, "what is written is what was counted")
            rest = number
            for index in stride(from: count + digits - 1, through: count, by: -1) {
                memory[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            }
        }
        count += digits
    }

    /// Writes the shortest text that is read as the same number. Integers have no decimal point.
    package mutating func number(_ number: Double) {
        precondition(number.isFinite, "JSON has no \(number)")
        let text = number.description
        put(text.utf8.suffix(2).elementsEqual(".0".utf8) ? text.dropLast(2) : text[...])
    }

    /// Writes a value that is JSON already, without space between tokens.
    package mutating func raw(_ json: ByteString) { put(json.string) }

    package mutating func text(_ text: String) {
        var text = text
        put(UInt8(ascii: "\""))
        text.withUTF8 { escaped(UnsafeRawBufferPointer($0)) }
        put(UInt8(ascii: "\""))
    }

    /// Writes text, with the parts between characters that need an escape copied in one piece.
    private mutating func escaped(_ text: UnsafeRawBufferPointer) {
        var plain = 0
        for index in text.indices {
            guard let escape = Self.escape(text[index]) else { continue }
            put(UnsafeRawBufferPointer(rebasing: text[plain..<index]))
            put(escape)
            plain = index + 1
        }
        put(UnsafeRawBufferPointer(rebasing: text[plain...]))
    }

    private static func escape(_ byte: UInt8) -> String? {
        guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { return nil }
        switch byte {
        case "\"": return "\\\""
        case "\\": return "\\\\"
        case "\u{8}": return "\\b"
        case "\u{C}": return "\\f"
        case "\n": return "\\n"
        case "\r": return "\\r"
        case "\t": return "\\t"
        default: return (byte < 0x10 ? "\\u000" : "\\u00") + String(byte, radix: 16)
        }
    }

    private mutating func put(_ text: some StringProtocol) {
        for byte in text.utf8 { put(byte) }
    }

    private mutating func put(_ byte: UInt8) {
        if let memory {
            precondition(count < memory.count, "what is written is what was counted")
            memory[count] = byte
        }
        count += 1
    }

    private mutating func put(_ bytes: UnsafeRawBufferPointer) {
        if let memory {
            precondition(bytes.count <= memory.count - count, "what is written is what was counted")
            UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(from: bytes)
        }
        count += bytes.count
    }
}
