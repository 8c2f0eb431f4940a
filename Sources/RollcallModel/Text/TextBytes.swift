// Names and text from Redis, compared and taken apart as UTF-8 bytes. Swift's own operations on `String` work on
// `Character`s and treat canonically equal text as the same: to them a blank and the combining mark behind it are one
// `Character`, so that a record whose second word begins with such a mark has one word less.

/// Comparison of text by its bytes, as Redis compares it.
///
/// The functions are concrete, for types that are used across modules: a generic type's code is not specialised there.
package enum TextBytes {
    package static func areSame(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count
            && withBytes(of: left) { left in withBytes(of: right) { left.elementsEqual($0) } }
    }

    /// The same for text that may be missing.
    package static func areSame(_ left: String?, _ right: String?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return areSame(left, right)
    }

    package static func precedes(_ left: String, _ right: String) -> Bool {
        withBytes(of: left) { left in withBytes(of: right) { left.lexicographicallyPrecedes($0) } }
    }

    package static func combine(_ text: String, into hasher: inout Hasher) {
        withBytes(of: text) { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(UInt8(0xFF))
    }

    private static func withBytes<Result>(of text: String, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = text.utf8.withContiguousStorageIfAvailable(body) { return result }
        var copy = text
        return copy.withUTF8(body)
    }
}

extension StringProtocol where UTF8View: BidirectionalCollection {
    /// Whether the text has exactly these bytes.
    package func isSame(as other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }

    package func begins(with start: some StringProtocol) -> Bool { utf8.starts(with: start.utf8) }

    package func ends(with end: String) -> Bool { utf8.reversed().starts(with: end.utf8.reversed()) }

    /// The parts between all bytes of this ASCII character, empty parts among them.
    package func parts(at separator: Unicode.Scalar) -> [String] {
        utf8.split(separator: UInt8(ascii: separator), omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// The parts before and after the first byte of this ASCII character; `nil` if there is none.
    package func cut(at separator: Unicode.Scalar) -> (before: String, after: String)? {
        utf8.firstIndex(of: UInt8(ascii: separator)).map(cut)
    }

    /// The parts before and after the last byte of this ASCII character; `nil` if there is none.
    package func cut(atLast separator: Unicode.Scalar) -> (before: String, after: String)? {
        utf8.lastIndex(of: UInt8(ascii: separator)).map(cut)
    }

    private func cut(_ index: Index) -> (before: String, after: String) {
        (
            String(decoding: utf8[..<index], as: UTF8.self),
            String(decoding: utf8[utf8.index(after: index)...], as: UTF8.self)
        )
    }

    /// Where these bytes stand first.
    package func firstBytes(of text: String) -> Range<Index>? { utf8.firstRange(of: text.utf8) }
}
