// What stands in the bodies of requests and answers.

import RollcallModel

/// A body that a request must have.
protocol AdminRequestBody: Decodable {
    /// How it looks, for whoever sent another.
    static var form: String { get }
}

/// Whose presence is asked for.
struct AdminUsers: AdminRequestBody {
    static let form = #"{"users":["alice"]}"#
    /// How many may be asked for at once.
    static let most = 1000

    var users: [UserID]
}

/// Up to a thousand people's, so written like a message.
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

/// All members of a conversation: their display names by user.
struct AdminMembers: AdminRequestBody, Encodable {
    static let form = #"{"members":{"alice":"Alice"}}"#

    var members: [UserID: String]

    enum CodingKeys: CodingKey { case members }

    init(_ members: [UserID: String]) {
        self.members = members
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        members = [:]
        for (user, name) in try fields.decode([String: AdminMemberName].self, forKey: .members) {
            do {
                members[try UserID(user)] = name.text
            } catch let invalid {
                throw DecodingError.dataCorruptedError(forKey: .members, in: fields, debugDescription: "\(invalid)")
            }
        }
    }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        let texts = members.map { ($0.key.text, $0.value) }
        try fields.encode(Dictionary(texts) { first, _ in first }, forKey: .members)
    }
}

/// One member.
struct AdminMember: AdminRequestBody {
    static let form = #"{"name":"Alice"}"#

    var name: AdminMemberName
}

/// A member's display name: it travels with every message that names its bearer, so it is short, and it is shown to
/// people, so it is one line. An empty one counts as unknown.
struct AdminMemberName: Decodable {
    static let mostBytes = 256

    let text: String

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        text = try container.decode(String.self)
        guard text.utf8.count <= Self.mostBytes else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "a name has at most \(Self.mostBytes) bytes")
        }
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "a name has no control characters")
        }
    }
}

struct AdminHealth: Encodable {
    var status = "ok"
}
