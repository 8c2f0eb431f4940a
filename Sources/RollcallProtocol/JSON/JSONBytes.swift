// Operations on the bytes of JSON text.

/// Matches a byte with its ASCII character in a `switch`.
func ~= (character: Unicode.Scalar, byte: UInt8) -> Bool { byte == UInt8(ascii: character) }

func ~= (characters: ClosedRange<Unicode.Scalar>, byte: UInt8) -> Bool {
    (UInt8(ascii: characters.lowerBound)...UInt8(ascii: characters.upperBound)).contains(byte)
}

extension UInt8 {
    var isDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }

    /// The value of this hexadecimal digit; `nil` if it is none.
    var hexadecimalValue: UInt32? {
        switch self {
        case "0"..."9": UInt32(self - UInt8(ascii: "0"))
        case "A"..."F": UInt32(self - UInt8(ascii: "A") + 10)
        case "a"..."f": UInt32(self - UInt8(ascii: "a") + 10)
        default: nil
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether these bytes are at the index.
    package func holds(_ bytes: StaticString, at index: Int) -> Bool {
        guard bytes.utf8CodeUnitCount <= count - index else { return false }
        for (offset, byte) in bytes.bytes.enumerated() where self[index + offset] != byte { return false }
        return true
    }

    /// Whether this consists of exactly these bytes.
    package func spells(_ bytes: StaticString) -> Bool { count == bytes.utf8CodeUnitCount && holds(bytes, at: 0) }

    /// Returns the index after the white space that starts at `index`, or `index` if there is none.
    func endOfSpace(from index: Int) -> Int {
        var index = index
        while index < count {
            switch self[index] {
            case " ", "\n", "\r", "\t": index += 1
            default: return index
            }
        }
        return index
    }
}

extension StaticString {
    var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: utf8Start, count: utf8CodeUnitCount) }
}

extension Sequence<UInt8> {
    /// Calls `read` with the bytes in one contiguous piece, copied only if necessary.
    func withBytes<Result>(_ read: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try withContiguousStorageIfAvailable { try read(UnsafeRawBufferPointer($0)) }
            ?? Array(self).withUnsafeBytes(read)
    }
}
