// Text from outside: from devices, tokens, HTTP, Redis and files. Swift's `==`, `switch`, `Set`, `Dictionary` and
// `rawValue:` on `String` normalise Unicode first. That costs the square of the length for combining marks in falling
// class, and makes one text of two that are different in Redis. Its operations on `Character`s take a space followed by
// a combining mark for one character. So text from outside is bytes.

/// Text that is compared, hashed, ordered, split and cut by its UTF-8 bytes.
public struct ByteString: Hashable, Comparable, Sendable {
    /// The text, to pass on. Compare the ``ByteString`` instead.
    public let string: String

    public init(_ string: String) {
        var string = string
        string.makeContiguousUTF8()
        self.string = string
    }

    /// Creates a text from bytes; those that are not UTF-8 are replaced.
    package init(decoding bytes: some Collection<UInt8>) { self.init(String(decoding: bytes, as: UTF8.self)) }

    /// Decodes and compares, because `String(validating:as:)` exists from iOS 18 on.
    ///
    /// - Returns: `nil` if the bytes are not UTF-8.
    package init?(validating bytes: some Collection<UInt8>) {
        self.init(decoding: bytes)
        guard withBytes({ $0.elementsEqual(bytes) }) else { return nil }
    }

    public static func == (left: Self, right: Self) -> Bool {
        left.string.utf8.count == right.string.utf8.count
            && left.withBytes { left in right.withBytes { left.elementsEqual($0) } }
    }

    public static func < (left: Self, right: Self) -> Bool {
        left.withBytes { left in right.withBytes { left.lexicographicallyPrecedes($0) } }
    }

    public func hash(into hasher: inout Hasher) {
        withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(UInt8(0xFF))
    }

    private func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        guard let result = string.utf8.withContiguousStorageIfAvailable(body) else {
            preconditionFailure("init makes the text contiguous")
        }
        return result
    }
}

extension ByteString: ExpressibleByStringLiteral, CustomStringConvertible, CustomDebugStringConvertible {
    public init(stringLiteral text: StaticString) { self.init(text.description) }

    public var description: String { string }
    public var debugDescription: String { string.debugDescription }
}

extension ByteString: Codable {
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(string)
    }
}

extension ByteString {
    package var utf8: String.UTF8View { string.utf8 }

    package var isEmpty: Bool { string.utf8.isEmpty }

    package var isASCII: Bool { string.utf8.allSatisfy { $0 < 0x80 } }

    /// Whether this is the word, in whatever case its ASCII letters are written.
    package func isWord(_ word: StaticString) -> Bool {
        let length = word.utf8CodeUnitCount
        return string.utf8.count == length && zip(string.utf8, word.bytes).allSatisfy { $0.lowercased == $1.lowercased }
    }

    /// The longest beginning of at most so many bytes that ends with a whole scalar.
    package func start(atMost bytes: Int) -> String {
        var end = bytes
        guard end < string.utf8.count else { return string }
        withBytes { bytes in while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 } }
        return String(decoding: string.utf8.prefix(end), as: UTF8.self)
    }

    /// What an error message repeats of the text.
    package var excerpt: String { start(atMost: 64) }

    /// The beginning in quotation marks, with escapes for what a log or a terminal could take for something else.
    package var shown: String { excerpt.debugDescription }

    package func begins(with start: StaticString) -> Bool {
        withBytes { UnsafeRawBufferPointer($0).holds(start, at: 0) }
    }

    /// The parts between all occurrences of this ASCII character, including empty parts.
    package func parts(at separator: Unicode.Scalar) -> [ByteString] {
        string.utf8.split(separator: UInt8(ascii: separator), omittingEmptySubsequences: false).map {
            ByteString(decoding: $0)
        }
    }

    /// The parts before and after the first occurrence of this ASCII character; `nil` if there is none.
    package func cut(at separator: Unicode.Scalar) -> (before: ByteString, after: ByteString)? {
        string.utf8.firstIndex(of: UInt8(ascii: separator)).map(cut)
    }

    /// The parts before and after the last occurrence of this ASCII character; `nil` if there is none.
    package func cut(atLast separator: Unicode.Scalar) -> (before: ByteString, after: ByteString)? {
        string.utf8.lastIndex(of: UInt8(ascii: separator)).map(cut)
    }

    private func cut(_ index: String.Index) -> (before: ByteString, after: ByteString) {
        (
            ByteString(decoding: string.utf8[..<index]),
            ByteString(decoding: string.utf8[string.utf8.index(after: index)...])
        )
    }

    /// The range at which these bytes occur first.
    package func firstBytes(of text: String) -> Range<String.Index>? { string.utf8.firstRange(of: text.utf8) }
}

extension RawRepresentable<String> {
    /// Reads a word of a protocol: at most 64 bytes of ASCII, which only equal bytes match.
    ///
    /// - Returns: `nil` for any other text.
    package init?(word: ByteString) {
        guard word.utf8.count <= 64, word.isASCII else { return nil }
        self.init(rawValue: word.string)
    }
}

extension UInt8 {
    /// The byte with an upper-case ASCII letter made lower-case.
    fileprivate var lowercased: UInt8 { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self ? self | 0x20 : self }
}
