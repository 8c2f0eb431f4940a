// Which conversations without members a session may join. Where a conversation has members, they alone decide.

/// What the claim `join` of a session's token opens or, without the claim, `conversations.default`.
public enum JoinRight: Hashable, Sendable {
    /// Every conversation that has no members.
    case all
    /// Those with one of these names, or with a name that begins with an entry's part before its last `*`.
    case only([ByteString])

    public static let none = only([])

    /// The most entries of a claim.
    ///
    /// Limit: entries of a token's `join`.
    public static let mostEntries = 50

    public func opens(_ conversation: ConversationID) -> Bool {
        guard case .only(let entries) = self else { return true }
        return entries.contains { entry in
            Self.start(of: entry).map(conversation.bytes.utf8.starts) ?? (entry == conversation.bytes)
        }
    }

    /// The start that a pattern requires; `nil` for a name.
    private static func start(of entry: ByteString) -> Substring.UTF8View? {
        entry.utf8.last == UInt8(ascii: "*") ? entry.utf8.dropLast() : nil
    }
}

extension JoinRight: JSONReadable, JSONWritable {
    /// - Throws: if it is neither `"*"` nor a list of at most 50 names and patterns.
    package init(json: JSONValue) throws(UnexpectedJSON) {
        if json.isText {
            guard try json.text() == "*" else { throw UnexpectedJSON("it is a text other than *") }
            self = .all
            return
        }
        try self.init(entries: try json.list())
    }

    /// - Throws: if there are too many entries, or one is neither a name nor a pattern.
    package init(entries: [ByteString]) throws(UnexpectedJSON) {
        guard entries.count <= Self.mostEntries else {
            throw UnexpectedJSON("it has more than \(Self.mostEntries) entries")
        }
        for entry in entries where entry != "*" {
            let name = Self.start(of: entry).map(ByteString.init(decoding:)) ?? entry
            do {
                _ = try ConversationID(name)
            } catch {
                throw UnexpectedJSON("\(error)")
            }
        }
        self = .only(entries)
    }

    package func write(to json: inout JSONWriter) {
        switch self {
        case .all: json.text("*")
        case .only(let entries): json.list(entries)
        }
    }
}

extension JoinRight: Encodable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .all: try container.encode("*")
        case .only(let entries): try container.encode(entries)
        }
    }
}

/// What a token grants its session besides its user and device.
public struct Grant: Hashable, Sendable {
    /// Which conversations without members it opens; `nil` if it does not say it.
    public var join: JoinRight?
    /// What others are shown of the user.
    public var profile: Profile

    public init(join: JoinRight? = nil, profile: Profile = Profile()) {
        (self.join, self.profile) = (join, profile)
    }
}
