// What a token says of its user for others to see. One table names the fields; claims, writes, records and messages follow it.

/// The texts of a user that others are shown. An absent field is `nil`, and an empty profile says nothing.
public struct Profile: Hashable, Sendable {
    /// The user's name for people, as the sign-in knows it.
    public private(set) var name: ByteString?

    /// Creates a profile of these texts, which are cleaned, never refused: without control characters, line ends and what controls
    /// the direction of text, without white space at both ends, and cut between characters to ``mostBytes``.
    public init(name: ByteString? = nil) {
        self.name = name?.cleaned(atMost: Self.mostBytes)
    }

    /// The most bytes of a text.
    ///
    /// Limit: bytes of a name. A longer one is cut.
    public static let mostBytes = 128

    /// Each field by its name in claims, in Redis and in messages. `PROFILE` in presence_record.lua has the same names.
    package static let fields: [(name: StaticString, text: any WritableKeyPath<Profile, ByteString?> & Sendable)] = [
        ("name", \.name)
    ]

    public var isEmpty: Bool { Self.fields.allSatisfy { self[keyPath: $0.text] == nil } }

    /// Sets a field to what is left of a text.
    private mutating func set(_ field: any WritableKeyPath<Profile, ByteString?> & Sendable, to text: ByteString?) {
        self[keyPath: field] = text?.cleaned(atMost: Self.mostBytes)
    }
}

extension ByteString {
    /// The text without control characters, line ends and what controls the direction of text, without white space at both ends,
    /// and cut between characters to so many bytes; `nil` if nothing is left.
    package func cleaned(atMost mostBytes: Int) -> ByteString? {
        // Most need nothing, and names are read again with each presence.
        let (bytes, space) = (utf8, UInt8(ascii: " "))
        if bytes.count <= mostBytes, bytes.first != space, bytes.last != space,
            bytes.allSatisfy({ $0 >= space && $0 < 0x7F })
        {
            return bytes.isEmpty ? nil : self
        }
        var (clean, count) = (String.UnicodeScalarView(), 0)
        for scalar in string.unicodeScalars.prefix(32 * mostBytes) {
            guard count <= mostBytes else { break }
            let properties = scalar.properties
            switch properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: continue
            default: break
            }
            if properties.isBidiControl || properties.isWhitespace && clean.isEmpty { continue }
            clean.append(scalar)
            count += UTF8.width(scalar)
        }
        var shown = String(clean)
        // Also of a single letter with more marks than fit, nothing is left.
        while shown.utf8.count > mostBytes || shown.unicodeScalars.last?.properties.isWhitespace == true {
            shown.removeLast()
        }
        return shown.isEmpty ? nil : ByteString(shown)
    }
}

extension Profile {
    /// Reads the fields that a JSON object has; what is no text counts as absent.
    package init(in json: JSONValue) {
        self.init()
        for field in Self.fields { set(field.text, to: try? json.optionalField(field.name) as ByteString?) }
    }

    /// Writes the fields that are known.
    package func write(to object: inout JSONWriter) {
        for field in Self.fields { object.optionalField(field.name, self[keyPath: field.text]) }
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ name: StaticString) { stringValue = "\(name)" }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Reads the fields of what is read, which may have others; what is no text counts as absent.
    package init(from decoder: any Decoder) throws {
        self.init()
        let container = try decoder.container(keyedBy: Key.self)
        for field in Self.fields {
            set(field.text, to: (try? container.decode(String.self, forKey: Key(field.name))).map(ByteString.init))
        }
    }

    /// Adds the fields that are known.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        for field in Self.fields {
            try container.encodeIfPresent(self[keyPath: field.text]?.string, forKey: Key(field.name))
        }
    }

    /// Reads one field of a hash in Redis, which may be of something else.
    package mutating func read(_ field: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        guard let known = Self.fields.first(where: { field.spells($0.name) }) else { return }
        set(known.text, to: ByteString(validating: value))
    }
}
