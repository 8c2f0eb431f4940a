// Who is here: who has a conversation open on one of their devices.

/// A user who is here: one of their devices has the conversation open.
public struct HereUser: Hashable, Sendable {
    public var user: UserID
    /// What the sign-in of the device says that sent ``data`` last; `nil` for none.
    public var name: ByteString?
    /// Since when the user is here without interruption, over all devices, in Redis time.
    public var since: Timestamp
    /// Whether no device that is here is active.
    public var isIdle: Bool
    /// What the device shows that sent data last.
    public var data: HereData?

    public init(user: UserID, name: ByteString? = nil, since: Timestamp, isIdle: Bool = false, data: HereData? = nil) {
        (self.user, self.name, self.since, self.isIdle, self.data) = (user, name, since, isIdle, data)
    }
}

/// What a device shows of itself where it is here: a JSON object of the app, without half of a surrogate pair, and with no number
/// beyond a `Double`: many parsers would refuse the whole message.
public struct HereData: Hashable, Sendable {
    /// The JSON text, without space between tokens. It has no line ends and no tabs.
    public let text: ByteString

    /// How deep arrays and objects may be nested, itself included.
    public static let deepest = 8
    /// How many bytes a client may keep from a worker, whatever its limit says.
    package static let mostStored = 4096

    /// Reads what another worker has stored or published; `nil` if it is no such object.
    package init?(stored text: ByteString) {
        guard !text.isEmpty, text.utf8.count <= Self.mostStored,
            let data = text.utf8.withBytes({ bytes in JSONValue(object: bytes).flatMap { try? HereData(json: $0) } })
        else { return nil }
        self = data
    }
}

extension HereData: JSONReadable, JSONWritable {
    package init(json: JSONValue) throws(UnexpectedJSON) {
        guard json.isObject else { throw UnexpectedJSON("it is no object") }
        guard json.depth <= Self.deepest else { throw UnexpectedJSON("it is nested more than \(Self.deepest) deep") }
        try json.demandPortable()
        text = json.textWithoutSpace
    }

    package func write(to json: inout JSONWriter) { json.raw(text) }
}

extension HereUser: JSONReadable, JSONWritable {
    /// Data that cannot be read is left out; the user is here all the same.
    package init(json: JSONValue) throws(UnexpectedJSON) {
        self.init(
            user: try json.field("user"), name: try json.optionalField("name"), since: try json.field("since"),
            isIdle: try json.optionalField("idle") ?? false, data: try? json.optionalField("data"))
    }

    package func write(to json: inout JSONWriter) {
        json.object {
            $0.optionalField("data", data)
            $0.optionalField("idle", isIdle ? true : nil)
            $0.optionalField("name", name)
            $0.field("since", since)
            $0.field("user", user)
        }
    }
}
