// Validates UTF-8 in pieces: a character may be split between two reads or fragments. Invalid bytes are rejected at
// once.

/// Validates UTF-8 as it arrives (RFC 3629): no overlong forms, no surrogates, nothing beyond U+10FFFF.
struct UTF8Validator: Hashable, Sendable {
    /// How many bytes the current character still lacks, and the allowed range of the next one.
    private var missing: UInt8 = 0
    private var lowest: UInt8 = 0x80
    private var highest: UInt8 = 0xBF

    /// Whether no character is incomplete.
    var isComplete: Bool { missing == 0 }

    /// Validates the next piece.
    ///
    /// - Returns: `false` if the bytes so far cannot be the start of valid UTF-8. The validator must not be used again.
    mutating func accept(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        while index < bytes.count {
            if missing == 0 {
                index = Self.endOfASCII(in: bytes, from: index)
                guard index < bytes.count else { return true }
            }
            guard accept(bytes[index]) else { return false }
            index += 1
        }
        return true
    }

    private mutating func accept(_ byte: UInt8) -> Bool {
        guard missing == 0 else {
            guard byte >= lowest && byte <= highest else { return false }
            expect(missing - 1)
            return true
        }
        switch byte {
        case 0x00...0x7F: break
        case 0xC2...0xDF: expect(1)
        case 0xE0: expect(2, from: 0xA0)
        case 0xED: expect(2, to: 0x9F)
        case 0xE1...0xEF: expect(2)
        case 0xF0: expect(3, from: 0x90)
        case 0xF1...0xF3: expect(3)
        case 0xF4: expect(3, to: 0x8F)
        default: return false
        }
        return true
    }

    private mutating func expect(_ count: UInt8, from lowest: UInt8 = 0x80, to highest: UInt8 = 0xBF) {
        missing = count
        self.lowest = lowest
        self.highest = highest
    }

    /// Skips ASCII eight bytes at a time; most messages are pure ASCII.
    private static func endOfASCII(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var index = start
        while index + 8 <= bytes.count,
            bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
        {
            index += 8
        }
        return index
    }
}
