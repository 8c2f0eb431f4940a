// Request and response bodies of the admin port.

import RollcallModel

/// A body that a request must have.
protocol AdminRequestBody: JSONReadable {
    /// An example of a valid body, for error messages.
    static var form: String { get }
}

/// The users whose presence is requested.
struct AdminUsers: AdminRequestBody {
    static let form = #"{"users":["alice"]}"#
    /// The most users in one request.
    static let most = 1000

    var users: [UserID]

    init(json: JSONValue) throws(UnexpectedJSON) {
        users = try json.field("users")
    }
}

/// Presence of up to 1,000 users. Encoded with the faster writer that messages use.
struct AdminPresence: JSONWritable {
    var users: [Presence]

    func write(to json: inout JSONWriter) {
        json.object { $0.field("users", users) }
    }
}

struct AdminTyping: JSONWritable {
    private let typing: ServerMessage.Typing

    init(_ typing: ServerMessage.Typing) {
        self.typing = typing
    }

    func write(to json: inout JSONWriter) {
        json.object {
            $0.field("conversation", typing.conversation)
            $0.field("count", typing.count)
            $0.field("users", typing.users)
        }
    }
}

/// Members of a conversation: display names by user. If a user appears twice, the first name counts.
struct AdminMembers: AdminRequestBody {
    static let form = #"{"members":{"alice":"Alice"}}"#

    var members: [UserID: String]

    init(json: JSONValue) throws(UnexpectedJSON) {
        let names: Names = try json.field("members")
        members = names.byUser
    }

    private struct Names: JSONReadable {
        var byUser: [UserID: String] = [:]

        init(json: JSONValue) throws(UnexpectedJSON) {
            try json.forEachField { (name, value) throws(UnexpectedJSON) in
                let user: UserID
                do {
                    user = try UserID(name)
                } catch {
                    throw UnexpectedJSON("\(error)")
                }
                let name = try AdminMemberName(json: value).text
                if byUser[user] == nil { byUser[user] = name }
            }
        }
    }
}

/// The members in a response, ordered by user.
struct AdminMemberList: JSONWritable {
    /// The most members returned without paging.
    static let mostUnpaged = 100_000
    static let mostOfPage = 10_000
    static let usualOfPage = 1000

    private let members: [(user: UserID, name: String)]
    private let cursor: String?

    init(_ members: [UserID: String], cursor: UInt64? = nil) {
        self.members = members.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        self.cursor = cursor.map { String($0) }
    }

    func write(to json: inout JSONWriter) {
        json.object {
            $0.optionalField("cursor", cursor)
            $0.field("members", Names(members: members))
        }
    }

    private struct Names: JSONWritable {
        let members: [(user: UserID, name: String)]

        func write(to json: inout JSONWriter) {
            json.object { json in
                for member in members { json.field(named: member.user.text, member.name) }
            }
        }
    }
}

/// One member.
struct AdminMember: AdminRequestBody {
    static let form = #"{"name":"Alice"}"#

    var name: AdminMemberName

    init(json: JSONValue) throws(UnexpectedJSON) {
        name = try json.field("name")
    }
}

/// A member's display name. It is short because every message that names the user carries it, and one line because
/// people read it. An empty name counts as unknown.
struct AdminMemberName: JSONReadable {
    static let mostBytes = 256

    let text: String

    init(json: JSONValue) throws(UnexpectedJSON) {
        text = try json.text()
        guard text.utf8.count <= Self.mostBytes else {
            throw UnexpectedJSON("a name has at most \(Self.mostBytes) bytes")
        }
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw UnexpectedJSON("a name has no control characters")
        }
    }
}

struct AdminHealth: Encodable {
    var status = "ok"
}
