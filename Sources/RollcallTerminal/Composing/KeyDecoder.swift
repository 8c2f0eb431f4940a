// Converts a terminal's bytes to keys. A key may arrive in pieces, and other keys begin with the byte of Escape: only a
// pause distinguishes them, so the caller reports pauses.

/// Decodes bytes to keys.
package struct KeyDecoder: Sendable {
    /// Bytes that may be the beginning of a key.
    private var rest: [UInt8] = []
    /// What has been pasted so far; `nil` except during a paste.
    private var pasted: [UInt8]?

    /// The maximum length of a paste, in bytes. The rest is dropped.
    package static let longestPaste = 64 * 1024
    private static let longestSequence = 32
    private static let endOfPaste = Array("\u{1B}[201~".utf8)

    package init() {}

    /// Whether to call ``paused()`` if no more bytes arrive soon.
    package var waits: Bool { !rest.isEmpty && pasted == nil }

    package mutating func received(_ bytes: some Sequence<UInt8>) -> [Key] {
        bytes.flatMap { byte in pasted == nil ? typed(byte) : inPaste(byte) }
    }

    /// Handles a pause. A single Escape byte was then the key.
    package mutating func paused() -> [Key] {
        defer { rest = [] }
        return rest == [0x1B] ? [.clear] : []
    }

    private mutating func typed(_ byte: UInt8) -> [Key] {
        if rest.first == 0x1B { return inSequence(byte) }
        if rest.isEmpty, byte < 0x80 { return single(byte) }
        return inCharacter(byte)
    }

    private mutating func single(_ byte: UInt8) -> [Key] {
        if byte == 0x1B {
            rest = [byte]
            return []
        }
        if byte >= 0x20, byte != 0x7F { return [.text(String(UnicodeScalar(byte)))] }
        return Self.controls[byte].map { [$0] } ?? []
    }

    /// Handles a byte of a multi-byte character. Invalid UTF-8 is dropped, and the byte that showed it is processed
    /// again.
    private mutating func inCharacter(_ byte: UInt8) -> [Key] {
        guard let first = rest.first ?? Optional(byte), let length = Self.length(of: first) else { return [] }
        if !rest.isEmpty, byte & 0xC0 != 0x80 {
            rest = []
            return typed(byte)
        }
        rest.append(byte)
        guard rest.count == length else { return [] }
        defer { rest = [] }
        guard let text = String(validating: rest, as: UTF8.self) else { return [] }
        // U+0080 to U+009F are control characters too.
        return text.unicodeScalars.allSatisfy { $0.value >= 0xA0 } ? [.text(text)] : []
    }

    private static func length(of first: UInt8) -> Int? {
        switch first {
        case 0xC2...0xDF: 2
        case 0xE0...0xEF: 3
        case 0xF0...0xF4: 4
        default: nil
        }
    }

    private mutating func inSequence(_ byte: UInt8) -> [Key] {
        if rest.count == 1, byte == 0x1B { return [.clear] }
        rest.append(byte)
        if rest.count == 2 {
            if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "O") { return [] }
            return ended(Self.withAlt[byte])
        }
        if byte < 0x20 || byte > 0x7E || rest.count > Self.longestSequence { return ended(nil) }
        // Sequences of the Linux console: `ESC [ [ A` is F1.
        if rest.count == 3, byte == UInt8(ascii: "[") { return [] }
        guard byte >= 0x40 else { return [] }
        let name = String(decoding: rest.dropFirst(2), as: UTF8.self)
        if name == "200~", rest[1] == UInt8(ascii: "[") { pasted = [] }
        return ended(Self.sequences[name])
    }

    private mutating func ended(_ key: Key?) -> [Key] {
        rest = []
        return key.map { [$0] } ?? []
    }

    private mutating func inPaste(_ byte: UInt8) -> [Key] {
        rest.append(byte)
        if rest.count > Self.endOfPaste.count { keep(rest.removeFirst()) }
        guard rest == Self.endOfPaste, let bytes = pasted else { return [] }
        (rest, pasted) = ([], nil)
        return [.paste(String(decoding: bytes, as: UTF8.self))]
    }

    private mutating func keep(_ byte: UInt8) {
        guard let pasted, pasted.count < Self.longestPaste else { return }
        self.pasted?.append(byte)
    }

    private static let controls: [UInt8: Key] = [
        0x01: .home, 0x02: .left, 0x03: .leave, 0x04: .leave, 0x05: .end, 0x06: .right, 0x08: .backspace,
        0x0A: .enter, 0x0B: .deleteToEnd, 0x0C: .redraw, 0x0D: .enter, 0x15: .clear, 0x17: .deleteWord,
        0x7F: .backspace,
    ]

    private static let withAlt: [UInt8: Key] = [
        UInt8(ascii: "b"): .wordLeft, UInt8(ascii: "f"): .wordRight, 0x7F: .deleteWord, 0x08: .deleteWord,
    ]

    /// What follows `ESC [` or `ESC O` in xterm, the Linux console and compatible terminals.
    private static let sequences: [String: Key] = [
        "C": .right, "D": .left, "F": .end, "H": .home, "1~": .home, "3~": .delete, "4~": .end, "7~": .home,
        "8~": .end, "1;5C": .wordRight, "1;5D": .wordLeft, "1;3C": .wordRight, "1;3D": .wordLeft,
    ]
}
