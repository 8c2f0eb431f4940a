// Names that an application gives to its users, devices and conversations. They become parts of Redis keys, so two
// names are the same only if their bytes are: Swift's `String` equality is canonical equivalence, which would merge
// the composed and the decomposed `café` into one entry where Redis has two keys.

/// A name of 1–128 bytes of UTF-8 without white space, control characters, `{` or `}`, compared and hashed as bytes.
///
/// White space is the Unicode property `White_Space`, a control character the general category `Cc`. Braces are
/// excluded since Redis Cluster reads them as hash tags.
public struct Identifier<Kind>: Hashable, Comparable, Sendable {
    /// The name as text, exactly as it was given.
    public let text: String

    /// The longest name, in bytes of UTF-8.
    public static var maximumBytes: Int { 128 }

    /// Takes a name as it stands.
    ///
    /// - Throws: ``InvalidIdentifier`` if the text breaks one of the rules above.
    public init(_ text: String) throws(InvalidIdentifier) {
        var text = text
        text.makeContiguousUTF8()
        try Self.check(text)
        self.text = text
    }

    private static func check(_ text: String) throws(InvalidIdentifier) {
        guard (1...maximumBytes).contains(text.utf8.count) else {
            throw InvalidIdentifier(reason: text.isEmpty ? .empty : .tooLong)
        }
        // Most names are ASCII, for which nothing need be looked up.
        guard !text.utf8.allSatisfy({ 0x21...0x7E ~= $0 && $0 != 0x7B && $0 != 0x7D }) else { return }
        for scalar in text.unicodeScalars {
            if scalar == "{" || scalar == "}" { throw InvalidIdentifier(reason: .brace) }
            if scalar.properties.generalCategory == .control { throw InvalidIdentifier(reason: .control) }
            if scalar.properties.isWhitespace { throw InvalidIdentifier(reason: .whiteSpace) }
        }
    }

    public static func == (left: Self, right: Self) -> Bool { TextBytes.areSame(left.text, right.text) }

    public static func < (left: Self, right: Self) -> Bool { TextBytes.precedes(left.text, right.text) }

    public func hash(into hasher: inout Hasher) {
        TextBytes.combine(text, into: &hasher)
    }
}

extension Identifier: CustomStringConvertible {
    public var description: String { text }
}

/// What is wrong with a name that was offered as an ``Identifier``.
public struct InvalidIdentifier: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Reason: String, Sendable {
        case empty = "is empty"
        case tooLong = "is longer than 128 bytes"
        case whiteSpace = "contains white space"
        case control = "contains a control character"
        case brace = "contains { or }"
    }

    public let reason: Reason

    public var description: String {
        "the name \(reason.rawValue): names are 1–128 bytes of UTF-8 without white space, control characters, { and }"
    }
}

extension Identifier: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do {
            try self.init(container.decode(String.self))
        } catch let invalid as InvalidIdentifier {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: invalid.description)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

public enum UserKind {}
public enum DeviceKind {}
public enum ConversationKind {}

/// A person, as the application names them.
public typealias UserID = Identifier<UserKind>
/// One of a user's devices; the name is unique among that user's devices only.
public typealias DeviceID = Identifier<DeviceKind>
/// A chat, a room, a document: where people type and see others typing.
public typealias ConversationID = Identifier<ConversationKind>
