// The names that an application gives to its users, devices and conversations. They become parts of Redis keys, so two
// names are equal only if their bytes are. Swift's `String` compares by canonical equivalence, which would merge the
// composed and the decomposed `café`, which are two keys in Redis.

/// A name of 1–128 bytes of UTF-8, of a user 1–255, without white space, control characters, `{` or `}`. Compared and hashed by bytes.
///
/// Sign-ins may give users identifiers of 255 characters of ASCII (OpenID Connect Core 1.0 §2, `sub`).
/// White space means the Unicode property `White_Space`; control characters are those of the general category `Cc`.
/// Braces are excluded because Redis Cluster uses them for hash tags.
public struct Identifier<Kind>: Hashable, Comparable, Sendable {
    /// The name, unchanged.
    public var text: String { bytes.string }

    package let bytes: ByteString

    /// The maximum length of a name in bytes of UTF-8.
    public static var maximumBytes: Int { Kind.self == UserKind.self ? 255 : 128 }

    /// Creates an identifier from a name, which is not changed.
    ///
    /// - Throws: ``InvalidIdentifier`` if the text violates one of these rules.
    public init(_ text: String) throws(InvalidIdentifier) { try self.init(ByteString(text)) }

    /// - Throws: ``InvalidIdentifier``, as for a `String`.
    package init(_ bytes: ByteString) throws(InvalidIdentifier) {
        try Self.check(bytes.string)
        self.bytes = bytes
    }

    /// A name of Rollcall's own, which no application can give.
    init(unchecked bytes: ByteString) { self.bytes = bytes }

    private static func check(_ text: String) throws(InvalidIdentifier) {
        guard (1...maximumBytes).contains(text.utf8.count) else {
            throw invalid(text.utf8.isEmpty ? .empty : .tooLong)
        }
        // Most names are ASCII and need no Unicode lookups.
        guard !text.utf8.allSatisfy({ 0x21...0x7E ~= $0 && $0 != 0x7B && $0 != 0x7D }) else { return }
        for scalar in text.unicodeScalars {
            if scalar == "{" || scalar == "}" { throw invalid(.brace) }
            if scalar.properties.generalCategory == .control { throw invalid(.control) }
            if scalar.properties.isWhitespace { throw invalid(.whiteSpace) }
        }
    }

    private static func invalid(_ reason: InvalidIdentifier.Reason) -> InvalidIdentifier {
        InvalidIdentifier(reason: reason, maximumBytes: maximumBytes)
    }

    public static func < (left: Self, right: Self) -> Bool { left.bytes < right.bytes }
}

extension Identifier: CustomStringConvertible {
    public var description: String { text }
}

/// The reason why a text is not a valid ``Identifier``.
public struct InvalidIdentifier: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Reason: String, Sendable {
        case empty = "is empty"
        case tooLong = "is too long"
        case whiteSpace = "contains white space"
        case control = "contains a control character"
        case brace = "contains { or }"
    }

    public let reason: Reason
    /// The longest name of this kind.
    public let maximumBytes: Int

    public var description: String {
        "the name \(reason.rawValue): names are 1–\(maximumBytes) bytes of UTF-8 without white space, control characters, { and }"
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

/// A user, as named by the application.
public typealias UserID = Identifier<UserKind>
/// One of a user's devices. The name is unique only among that user's devices.
public typealias DeviceID = Identifier<DeviceKind>
/// A chat, room or document in which users type and see others typing.
public typealias ConversationID = Identifier<ConversationKind>
