// Request and response bodies of the admin port, and its errors: RFC 9457 problem details with a stable code.

import Foundation
import Hummingbird
import NIOCore
import RollcallProtocol

/// A body that a request must have.
protocol AdminRequestBody: JSONReadable {
    /// An example of a valid body, for error messages.
    static var form: String { get }
    /// What counts where there is no body.
    static var absent: String { get }
}

extension AdminRequestBody {
    static var absent: String { "" }
}

/// How a user types on behalf of a server.
struct AdminServerTyping: AdminRequestBody {
    static let form = #"{"kind":"thinking","for":"30s","name":"Ada"}"#
    static let absent = "{}"
    /// Limit: `for` of a user that a server shows as typing or here.
    static let longest = Duration.seconds(300)

    let kind: TypingKind
    let duration: Duration
    let profile: Profile

    init(json: JSONValue) throws(UnexpectedJSON) {
        // Somebody writes this by hand: what devices send may be of a later version.
        let word: ByteString? = try json.optionalField("kind")
        guard let kind = word.map(TypingKind.init(word:)) ?? .typing else {
            throw UnexpectedJSON(
                "\"kind\" is \(TypingKind.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        self.kind = kind
        duration = try Self.duration(in: json)
        profile = Profile(name: try json.optionalField("name"))
    }

    /// For how long a server says something of a user.
    fileprivate static func duration(in json: JSONValue) throws(UnexpectedJSON) -> Duration {
        let text: ByteString = try json.optionalField("for") ?? "10s"
        guard let duration = DurationText.duration(text), duration > .zero, duration <= longest else {
            throw UnexpectedJSON("\"for\" is a duration of at most \(DurationText.text(longest)), such as 30s")
        }
        return duration
    }
}

/// How a user is here on behalf of a server.
struct AdminServerHere: AdminRequestBody {
    static let form = #"{"data":{"section":4},"for":"30s","name":"Ada"}"#
    static let absent = "{}"

    let data: HereData?
    let duration: Duration
    let profile: Profile

    init(json: JSONValue) throws(UnexpectedJSON) {
        data = try json.optionalField("data")
        duration = try AdminServerTyping.duration(in: json)
        profile = Profile(name: try json.optionalField("name"))
    }
}

/// The users whose presence is requested.
struct AdminUsers: AdminRequestBody {
    static let form = #"{"users":["alice"]}"#
    /// The most users in one request.
    ///
    /// Limit: users, or conversations, that one request names.
    static let most = 1000

    private let users: [UserID]
    /// Whether to show what Redis holds, which is what events tell, and not what observers see.
    private(set) var isStored = false
    /// For whom, and a conversation that may share the users with them.
    let (viewer, conversation): (UserID?, ConversationID?)

    init(_ users: [UserID], as viewer: UserID?, in conversation: ConversationID?) {
        (self.users, self.viewer, self.conversation) = (users, viewer, conversation)
    }

    init(json: JSONValue) throws(UnexpectedJSON) {
        users = try json.field("users")
        isStored = try json.optionalField("stored") ?? false
        (viewer, conversation) = (try json.optionalField("as"), try json.optionalField("in"))
        if isStored, viewer != nil {
            throw UnexpectedJSON("what is stored is the truth, for nobody: leave \"as\" or \"stored\" out")
        }
        if viewer == nil, conversation != nil { throw UnexpectedJSON("\"in\" needs \"as\": for whom") }
    }

    /// The users, unless there are too many.
    func demanded() throws(AdminProblem) -> [UserID] {
        guard users.count <= Self.most else {
            throw AdminProblem(.limit, "one request can name at most \(Self.most) users")
        }
        return users
    }
}

/// Whether to push, for up to 1,000 users.
struct AdminReach: JSONWritable {
    let users: [Reach]

    func write(to json: inout JSONWriter) {
        json.object { $0.field("users", users) }
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

struct AdminHere: JSONWritable {
    let here: ServerMessage.Here

    func write(to json: inout JSONWriter) {
        json.object {
            $0.field("conversation", here.conversation)
            $0.field("count", here.count)
            $0.field("users", here.users)
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
                let name = try AdminMemberName(json: value).text.string
                if byUser[user] == nil { byUser[user] = name }
            }
        }
    }
}

/// The members in a response, ordered by user.
struct AdminMemberList: JSONWritable {
    /// The most members returned without paging.
    ///
    /// Limit: members in one answer without paging.
    static let mostUnpaged = 100_000
    /// Limit: members of a page.
    static let mostOfPage = 10_000
    static let usualOfPage = 1000

    private let members: [(user: UserID, name: ByteString)]
    private let cursor: String?

    init(_ members: [UserID: ByteString], cursor: UInt64? = nil) {
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
        let members: [(user: UserID, name: ByteString)]

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

    let text: ByteString

    init(json: JSONValue) throws(UnexpectedJSON) {
        text = try json.text()
        guard text.utf8.count <= Self.mostBytes else {
            throw UnexpectedJSON("a name has at most \(Self.mostBytes) bytes")
        }
        guard !text.string.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw UnexpectedJSON("a name has no control characters")
        }
    }
}

struct AdminRebalance: Encodable {
    var mean: Int
    var moving: Int
    var workers: Int

    init(_ done: Rebalance) { (mean, moving, workers) = (done.mean, done.moving, done.workers) }
}

struct AdminHealth: Encodable {
    var status = "ok"
    /// What does not work although the worker is ready.
    var reason: String?
}

/// Why a request was refused.
struct AdminProblem: Error, Hashable {
    /// Stable codes for programs to match.
    enum Code: String, CaseIterable {
        /// The path, the query or the body is wrong. `detail` says what is expected.
        case badRequest = "bad_request"
        /// No token, or a wrong one. Send `Authorization: Bearer TOKEN`.
        case unauthorized
        /// The token's role does not allow this request.
        case forbidden
        /// Nothing is at this path. Percent-encode the names in it. Or events are off: set `events.enabled`.
        case notFound = "not_found"
        /// The conversation's members were never set. (An empty list is set.)
        case notManaged = "not_managed"
        /// The conversation has members, and the user is not one of them. Add the user first.
        case notAMember = "not_a_member"
        /// The path has other methods. `Allow` lists them.
        case methodNotAllowed = "method_not_allowed"
        /// The body is larger than 4 MiB.
        case tooLarge = "too_large"
        /// The request asks for more than is allowed at once. Split it.
        case limit
        /// This worker shows 10,000 users for servers already. Ask another worker.
        case tooMany = "too_many"
        /// Redis is away, or this worker has no lease. `DELETE` of a user also gets this for one lease after an
        /// outage. Repeat the request after `Retry-After`, or at another worker.
        case unavailable
        /// A bug in Rollcall. The worker's log has the cause. Please report it.
        case `internal`
    }

    var code: Code
    /// A sentence for people to read.
    var detail: String
    /// Headers for the client: `Allow`, `Retry-After`, `WWW-Authenticate`.
    var headers: HTTPFields

    init(_ code: Code, _ detail: String, headers: HTTPFields = [:]) {
        self.code = code
        self.detail = detail
        self.headers = headers
    }

    static func unavailable(_ detail: String, retryAfter: Duration) -> AdminProblem {
        let seconds = max(1, (retryAfter + .milliseconds(999)).components.seconds)
        return AdminProblem(.unavailable, detail, headers: [.retryAfter: "\(seconds)"])
    }

    private var status: HTTPResponse.Status {
        switch code {
        case .badRequest, .limit: .badRequest
        case .unauthorized: .unauthorized
        case .forbidden: .forbidden
        case .notFound, .notManaged: .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .notAMember: .conflict
        case .tooMany: .tooManyRequests
        case .tooLarge: .contentTooLarge
        case .unavailable: .serviceUnavailable
        case .internal: .internalServerError
        }
    }

    var parts: (head: HTTPResponse, body: ByteBuffer) {
        let body = Body(code: code.rawValue, detail: detail, status: status.code, title: status.reasonPhrase)
        let own: HTTPFields = [.contentType: "application/problem+json", .cacheControl: "no-store"]
        return (HTTPResponse(status: status, headerFields: own + headers), AdminJSON.bytes(body))
    }

    var response: Response {
        let (head, body) = parts
        return Response(status: head.status, headers: head.headerFields, body: ResponseBody(byteBuffer: body))
    }

    private struct Body: Encodable {
        var code: String
        var detail: String
        var status: Int
        var title: String
    }
}

/// JSON on the admin port. Equal values encode to equal bytes.
enum AdminJSON {
    static func response(_ body: some Encodable) -> Response {
        response(bytes(body), status: .ok, type: "application/json")
    }

    static func response(_ body: some JSONWritable) -> Response {
        let size = body.jsonSize
        var bytes = ByteBufferAllocator().buffer(capacity: size)
        bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: size) { body.writeJSON(to: $0) }
        return response(bytes, status: .ok, type: "application/json")
    }

    static func response(_ bytes: ByteBuffer, status: HTTPResponse.Status, type: String) -> Response {
        Response(
            status: status, headers: [.contentType: type, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: bytes))
    }

    static func bytes(_ body: some Encodable) -> ByteBuffer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return ByteBuffer(bytes: try encoder.encode(body))
        } catch {
            preconditionFailure("the response cannot be encoded: \(error)")
        }
    }
}
