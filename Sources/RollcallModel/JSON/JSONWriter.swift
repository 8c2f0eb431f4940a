// A text written straight to where it is wanted. What writes it is run twice, first only to count the bytes: so the memory
// is right from the beginning, and is never moved or left half empty.

/// Writes JSON: no white space, and of characters only those escaped that must be. Whoever writes objects gives their
/// fields in alphabetical order, so that the same message is always the same bytes.
package struct JSONWriter {
    /// `nil` while the bytes are counted.
    private let memory: UnsafeMutableRawBufferPointer?
    private(set) var count = 0
    /// Whether nothing stands yet in the innermost array or object.
    private var isFirst = true

    init(_ memory: UnsafeMutableRawBufferPointer?) {
        self.memory = memory
    }

    /// A field of the object that is being written.
    package mutating func field(_ name: StaticString, _ value: some JSONWritable) {
        separate()
        put(UInt8(ascii: "\""))
        put(UnsafeRawBufferPointer(name.bytes))
        put(UInt8(ascii: "\""))
        put(UInt8(ascii: ":"))
        value.write(to: &self)
    }

    /// A field whose name is a stranger's.
    package mutating func field(named name: String, _ value: some JSONWritable) {
        separate()
        text(name)
        put(UInt8(ascii: ":"))
        value.write(to: &self)
    }

    /// A field that is left out where there is nothing to say.
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

// What has no other values in it.
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

    /// The shortest text that is read as the same number again; a whole one as such.
    package mutating func number(_ number: Double) {
        precondition(number.isFinite, "JSON has no \(number)")
        let text = number.description
        put(text.ends(with: ".0") ? text.dropLast(2) : text[...])
    }

    package mutating func text(_ text: String) {
        var text = text
        put(UInt8(ascii: "\""))
        text.withUTF8 { escaped(UnsafeRawBufferPointer($0)) }
        put(UInt8(ascii: "\""))
    }

    /// Whatever stands between two characters that need an escape is copied at once.
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
