// What a session may do by name: which conversations without members it may join, and which users it may ask about.

/// All names, or those with one of these names, or with a name that begins with an entry's part before its last `*`.
public enum NameRight<Kind>: Hashable, Sendable {
    case all
    case only([ByteString])

    public static var none: Self { only([]) }

    public func covers(_ name: Identifier<Kind>) -> Bool {
        guard case .only(let entries) = self else { return true }
        return entries.contains { entry in
            NameRights.start(of: entry).map(name.bytes.utf8.starts) ?? (entry == name.bytes)
        }
    }
}

/// What the claim `join` of a session's token opens or, without the claim, `conversations.default`. Where a conversation has
/// members, they alone decide.
public typealias JoinRight = NameRight<ConversationKind>
/// What the claim `watch` of a session's token lets it ask about or, without the claim, `access.watch`. Whom else it may ask about is
/// shared with it: ``ServerMessage/Members``.
public typealias WatchRight = NameRight<UserKind>

/// What all rights by name have in common.
public enum NameRights {
    /// The most entries of a claim.
    ///
    /// Limit: entries of a token's `join`, and of its `watch`.
    public static let mostEntries = 50

    /// The start that a pattern requires; `nil` for a name.
    static func start(of entry: ByteString) -> Substring.UTF8View? {
        entry.utf8.last == UInt8(ascii: "*") ? entry.utf8.dropLast() : nil
    }
}

extension NameRight: JSONReadable, JSONWritable {
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
        guard entries.count <= NameRights.mostEntries else {
            throw UnexpectedJSON("it has more than \(NameRights.mostEntries) entries")
        }
        for entry in entries where entry != "*" {
            let name = NameRights.start(of: entry).map(ByteString.init(decoding:)) ?? entry
            do {
                _ = try Identifier<Kind>(name)
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

extension NameRight: Encodable {
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
    /// Which users it lets the session ask about; `nil` if it does not say it.
    public var watch: WatchRight?
    /// What others are shown of the user.
    public var profile: Profile

    public init(join: JoinRight? = nil, watch: WatchRight? = nil, profile: Profile = Profile()) {
        (self.join, self.watch, self.profile) = (join, watch, profile)
    }
}
