// Compares and splits names and text from Redis as UTF-8 bytes. Swift's operations on `String` work on `Character`s and
// treat canonically equivalent text as equal. To them a space followed by a combining mark is one `Character`, so a
// record whose second word begins with such a mark would have one word less.

/// Compares text by bytes, as Redis does.
///
/// The functions are concrete because they are used across modules, where the code of generic types is not specialised.
package enum TextBytes {
    package static func areSame(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count
            && withBytes(of: left) { left in withBytes(of: right) { left.elementsEqual($0) } }
    }

    /// The same for optional text.
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

    /// The parts between all occurrences of this ASCII character, including empty parts.
    package func parts(at separator: Unicode.Scalar) -> [String] {
        utf8.split(separator: UInt8(ascii: separator), omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// The parts before and after the first occurrence of this ASCII character; `nil` if there is none.
    package func cut(at separator: Unicode.Scalar) -> (before: String, after: String)? {
        utf8.firstIndex(of: UInt8(ascii: separator)).map(cut)
    }

    /// The parts before and after the last occurrence of this ASCII character; `nil` if there is none.
    package func cut(atLast separator: Unicode.Scalar) -> (before: String, after: String)? {
        utf8.lastIndex(of: UInt8(ascii: separator)).map(cut)
    }

    private func cut(_ index: Index) -> (before: String, after: String) {
        (
            String(decoding: utf8[..<index], as: UTF8.self),
            String(decoding: utf8[utf8.index(after: index)...], as: UTF8.self)
        )
    }

    /// The range at which these bytes occur first.
    package func firstBytes(of text: String) -> Range<Index>? { utf8.firstRange(of: text.utf8) }
}
