// The routes of the admin port, each with the role that it needs.

import Hummingbird
import NIOCore
import NIOHTTP1
import RollcallCore
import RollcallProtocol
import RollcallServer

/// A method on a path of the admin port.
struct AdminRoute: Sendable {
    let method: HTTPRequest.Method
    /// The path, with the names of parameters in braces.
    let path: String
    /// The role that a caller's token needs; `nil` where none is needed: health checks have none, and browsers send
    /// none when they load a page.
    let role: AdminRole?
    /// Whether each request is noted in the audit log: those that change something to stay.
    let isAudited: Bool
    let answer: @Sendable (AdminCall) async throws -> Response

    init(
        _ method: HTTPRequest.Method, _ path: String, _ role: AdminRole?, isAudited: Bool = false,
        answer: @escaping @Sendable (AdminCall) async throws -> Response
    ) {
        (self.method, self.path, self.role, self.answer) = (method, path, role, answer)
        self.isAudited = isAudited || role == .operator
    }
}

/// What the routes answer from.
struct AdminRoutes: Sendable {
    let node: any OperatorAccess
    let told: AdminEvents
    /// The metrics to serve, if this process keeps them here.
    let metrics: PrometheusMetrics?
    /// The most recent log events.
    let events: EventRing
    /// Who asks the app's server who may join; `nil` if nobody does.
    let access: AccessProvider?

    init(node: any OperatorAccess, metrics: PrometheusMetrics?, events: EventRing, access: AccessProvider? = nil) {
        (self.node, self.metrics, self.events, self.access) = (node, metrics, events, access)
        told = AdminEvents(node)
    }

    var all: [AdminRoute] {
        [
            AdminRoute(.get, "/health", nil) { _ in AdminJSON.response(AdminHealth()) },
            AdminRoute(.get, "/ready", nil) { try ready($0.query) },
            // What HAProxy asks unless it is told another method.
            AdminRoute(.options, "/health", nil) { _ in AdminJSON.response(AdminHealth()) },
            AdminRoute(.options, "/ready", nil) { try ready($0.query) },
            AdminRoute(.get, "/metrics", .metrics) { _ in try page() },
            AdminRoute(.get, "/live", nil) { _ in LivePage.page.response },
            AdminRoute(.get, "/live/{file}", nil) { try LivePage.named($0.text("file")).response },
            AdminRoute(.get, "/v1/presence", .read) { call in
                let (viewer, conversation) = try call.viewer()
                return try await presence(of: AdminUsers(call.users(), as: viewer, in: conversation))
            },
            // It changes nothing: the names are in the body because they may be too many for a query.
            AdminRoute(.post, "/v1/presence", .read) { try await presence(of: $0.body(AdminUsers.self)) },
            AdminRoute(.post, "/v1/reach", .app) {
                AdminJSON.response(AdminReach(users: await node.reach(of: try $0.body(AdminUsers.self).demanded())))
            },
            AdminRoute(.get, "/v1/events", .app) {
                AdminJSON.response(try await told.answer($0.query, isConnected: $0.context.isConnected))
            },
            AdminRoute(.get, "/v1/workers", .read) { _ in AdminJSON.response(AdminWorkers(try await node.workers())) },
            AdminRoute(.post, "/v1/rebalance", .operator) { _ in
                AdminJSON.response(AdminRebalance(try await node.rebalance()))
            },
            AdminRoute(.get, "/v1/live", .read) { _ in
                AdminJSON.response(AdminLive(try await node.live(), events: events.events, at: .hostTime))
            },
            AdminRoute(.get, "/v1/users/{user}", .read) {
                var answer = AdminUser(try await node.explanation(of: try $0.user()))
                let (viewer, conversation) = try $0.viewer()
                if let viewer {
                    let sight = try await node.sight(of: try $0.user(), as: viewer, in: conversation)
                    answer.viewer = AdminUser.Rule(
                        code: sight.rawValue, text: sight.sentence(try $0.user(), for: viewer))
                }
                return AdminJSON.response(answer)
            },
            AdminRoute(.delete, "/v1/users/{user}", .operator) { try await erase($0) },
            AdminRoute(.delete, "/v1/users/{user}/sessions", .operator) { try await sendAway($0) },
            AdminRoute(.post, "/v1/users/{user}/revoke", .operator) {
                AdminJSON.response(try await node.revokeTokens(of: $0.user()))
            },
            AdminRoute(.get, "/v1/conversations/{conversation}/typing", .read) {
                AdminJSON.response(AdminTyping(try await node.typing(in: $0.conversation())))
            },
            AdminRoute(.get, "/v1/conversations/{conversation}/here", .read) {
                AdminJSON.response(AdminHere(here: try await node.here(in: $0.conversation())))
            },
            AdminRoute(.put, "/v1/conversations/{conversation}/here/{user}", .app) { try await enter($0) },
            AdminRoute(.delete, "/v1/conversations/{conversation}/here/{user}", .app) {
                try await node.exit($0.user(), in: $0.conversation())
                return Response(status: .noContent)
            },
            AdminRoute(.put, "/v1/conversations/{conversation}/typing/{user}", .app) { try await type($0) },
            AdminRoute(.delete, "/v1/conversations/{conversation}/typing/{user}", .app) {
                try await node.stopTyping($0.user(), in: $0.conversation())
                return Response(status: .noContent)
            },
        ] + memberRoutes + accessRoutes + personRoutes
    }

    private var memberRoutes: [AdminRoute] {
        let (all, one) = ("/v1/conversations/{conversation}/members", "/v1/conversations/{conversation}/members/{user}")
        return [
            AdminRoute(.get, all, .read) { AdminJSON.response(try await members($0)) },
            AdminRoute(.put, all, .app, isAudited: true) {
                try await node.setMembers($0.body(AdminMembers.self).members, of: $0.conversation())
                return Response(status: .noContent)
            },
            AdminRoute(.delete, all, .app, isAudited: true) {
                try await node.endMembership(of: $0.conversation())
                return Response(status: .noContent)
            },
            AdminRoute(.put, one, .app, isAudited: true) {
                try await node.setMember(
                    $0.user(), name: $0.body(AdminMember.self).name.text.string, of: $0.conversation())
                return Response(status: .noContent)
            },
            AdminRoute(.delete, one, .app, isAudited: true) {
                try await node.removeMember($0.user(), of: $0.conversation())
                return Response(status: .noContent)
            },
        ]
    }

    private var accessRoutes: [AdminRoute] {
        let (conversation, user) = (
            "/v1/conversations/{conversation}/access", "/v1/conversations/{conversation}/access/{user}"
        )
        return [
            AdminRoute(.get, user, .read) {
                let (user, conversation) = (try $0.user(), try $0.conversation())
                let report = try await access?.report(on: AccessQuestion(user: user, conversation: conversation))
                return AdminJSON.response(
                    AdminAccess(
                        try await node.access(of: user, to: conversation), of: user, to: conversation,
                        isOpen: node.isOpenByDefault, report))
            },
            AdminRoute(.delete, user, .app, isAudited: true) {
                try await node.dropAccess(of: $0.user(), to: $0.conversation())
                return Response(status: .noContent)
            },
            AdminRoute(.delete, conversation, .app, isAudited: true) {
                try await node.dropAccess(of: nil, to: $0.conversation())
                return Response(status: .noContent)
            },
        ]
    }
}

extension AdminRoutes {
    /// With `?redis=any`, whether this worker alone is ready: where Redis is away from all workers, a balancer that
    /// removes each of them refuses everybody.
    private func ready(_ query: AdminQuery) throws(AdminProblem) -> Response {
        let reason = node.reason
        guard try query.has("redis", "any") ? node.isServing : node.isReady else {
            throw .unavailable(reason ?? "this worker was not ready until now", retryAfter: .seconds(1))
        }
        return AdminJSON.response(AdminHealth(status: "ready", reason: reason))
    }

    private func page() throws(AdminProblem) -> Response {
        guard let metrics else { throw AdminProblem(.notFound, "this process does not serve its metrics here") }
        return AdminJSON.response(
            ByteBuffer(string: metrics.exposition()), status: .ok, type: PrometheusMetrics.contentType)
    }

    private func presence(of asked: AdminUsers) async throws -> Response {
        let users = try asked.demanded()
        return AdminJSON.response(
            AdminPresence(
                users: asked.isStored
                    ? try await node.storedPresence(of: users)
                    : try await node.presence(of: users, as: asked.viewer, in: asked.conversation)))
    }

    private func type(_ call: AdminCall) async throws -> Response {
        let typing = try await call.body(AdminServerTyping.self)
        return try await shown {
            try await node.type(
                call.user(), as: typing.profile, in: call.conversation(), kind: typing.kind, for: typing.duration)
        }
    }

    private func enter(_ call: AdminCall) async throws -> Response {
        let here = try await call.body(AdminServerHere.self)
        guard here.data?.text.utf8.count ?? 0 <= node.hereData else {
            throw AdminProblem(.limit, "data has at most \(node.hereData) bytes")
        }
        return try await shown {
            try await node.enter(
                call.user(), as: here.profile, in: call.conversation(), data: here.data, for: here.duration)
        }
    }

    private func shown(_ show: () async throws -> Void) async throws -> Response {
        do {
            try await show()
        } catch let refusal as BackendRefusal {
            switch refusal {
            case .notAMember:
                throw AdminProblem(.notAMember, "the conversation has members, and the user is none of them")
            case .tooMany:
                throw AdminProblem(
                    .tooMany, "this worker shows as many users for servers as it can; ask another one",
                    headers: [.retryAfter: "1"])
            case .unavailable: throw Unavailable()
            }
        }
        return Response(status: .noContent)
    }

    private func sendAway(_ call: AdminCall) async throws -> Response {
        try call.query.demand(only: "device")
        let devices: [DeviceID] = try call.query.names("device")
        guard devices.count <= 1 else { throw AdminProblem(.badRequest, "name one device, or none to mean all") }
        return AdminJSON.response(try await node.sendAway(call.user(), device: devices.first))
    }

    private func erase(_ call: AdminCall) async throws -> Response {
        try call.query.demand(only: "conversation")
        let conversations: [ConversationID] = try call.query.names("conversation")
        guard conversations.count <= AdminUsers.most else {
            throw AdminProblem(.limit, "one request can name at most \(AdminUsers.most) conversations")
        }
        guard try await node.erase(call.user(), conversations: conversations) else {
            throw AdminProblem.unavailable("a session of the user would not end", retryAfter: .seconds(1))
        }
        return Response(status: .noContent)
    }

    /// Returns all members, or one page if the query asks for one.
    private func members(_ call: AdminCall) async throws -> AdminMemberList {
        let conversation = try call.conversation()
        let cursor = try call.query.number("cursor", in: UInt64.min...UInt64.max)
        let limit = try call.query.number("limit", in: 1...AdminMemberList.mostOfPage)
        let isPaged = cursor != nil || limit != nil
        let step = limit ?? (isPaged ? AdminMemberList.usualOfPage : AdminMemberList.mostOfPage)
        var from = cursor ?? MembersPage.start
        var members: [UserID: ByteString] = [:]
        while true {
            guard let page = try await node.membersPage(of: conversation, from: from, limit: step) else {
                throw AdminProblem(
                    .notManaged, "the members of this conversation are not managed: they were never set, or deleted")
            }
            if isPaged { return AdminMemberList(page.members, cursor: page.next) }
            guard page.count <= AdminMemberList.mostUnpaged else {
                throw AdminProblem(
                    .limit,
                    "there are \(page.count) members: read them in pages with ?limit=\(AdminMemberList.mostOfPage), "
                        + "then pass the cursor of each response")
            }
            members.merge(page.members) { first, _ in first }
            guard let next = page.next else { return AdminMemberList(members) }
            from = next
        }
    }
}

/// A request, and the names in it. They are percent-encoded, each separately: a conversation named `a/b` is `a%2Fb` in
/// a path. A plus sign stays a plus sign, because names contain no spaces.
struct AdminCall {
    let request: Request
    let context: AdminContext

    /// Large enough for the members of a large conversation.
    ///
    /// Limit: bytes of a request's body. A longer one gets 413.
    static let mostBytes = 4 * 1024 * 1024

    /// The part of the path, as it was sent.
    func text(_ parameter: String) -> ByteString { ByteString(context.parameters.get(parameter) ?? "") }

    func user() throws(AdminProblem) -> UserID { try Self.name(text("user"), "the user") }

    func conversation() throws(AdminProblem) -> ConversationID {
        try Self.name(text("conversation"), "the conversation")
    }

    var query: AdminQuery { AdminQuery(request.uri.query) }

    func users() throws(AdminProblem) -> [UserID] {
        let users: [UserID] = try query.names("user")
        guard !users.isEmpty else { throw AdminProblem(.badRequest, "name the users, as in ?user=alice&user=bob") }
        return users
    }

    /// For whom it is asked, and a conversation that may share users with them.
    func viewer() throws(AdminProblem) -> (UserID?, ConversationID?) {
        let (viewers, conversations): ([UserID], [ConversationID]) = (try query.names("as"), try query.names("in"))
        guard !conversations.isEmpty, viewers.isEmpty else { return (viewers.first, conversations.first) }
        throw AdminProblem(.badRequest, "\"in\" needs \"as\": for whom, as in ?as=bob&in=c42")
    }

    func body<Body: AdminRequestBody>(_: Body.Type) async throws -> Body {
        let bytes: ByteBuffer
        do {
            bytes = try await request.body.collect(upTo: Self.mostBytes)
        } catch is NIOTooManyBytesError {
            throw AdminProblem(.tooLarge, "the body is larger than \(Self.mostBytes) bytes")
        } catch let error as HTTPParserError {
            throw error
        } catch {
            throw AdminProblem(.badRequest, "the body is incomplete")
        }
        do {
            return try Body(
                jsonText: bytes.readableBytes == 0
                    ? ByteBuffer(string: Body.absent).readableBytesView : bytes.readableBytesView)
        } catch let error as UnexpectedJSON {
            throw AdminProblem(.badRequest, "the body must have the form \(Body.form); \(error)")
        }
    }

    static func name<Kind>(_ text: ByteString, _ what: String) throws(AdminProblem) -> Identifier<Kind> {
        guard let name = percentDecoded(text) else {
            throw AdminProblem(.badRequest, "\(what) is not percent-encoded UTF-8")
        }
        do {
            return try Identifier(name)
        } catch {
            throw AdminProblem(.badRequest, "\(what) is not a valid name: \(error)")
        }
    }

    /// Hummingbird's decoding passes on what is not valid; a name must not be changed.
    static func percentDecoded(_ text: ByteString) -> ByteString? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexDigit), let low = rest.popFirst().flatMap(hexDigit) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return ByteString(validating: bytes)
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
    }
}

/// The parameters of a query, in order. Names and values are percent-encoded.
struct AdminQuery {
    /// The name is the raw text if it cannot be decoded.
    private let fields: [(name: ByteString, value: ByteString?)]

    init(_ query: String?) {
        fields = ByteString(query ?? "").parts(at: "&").filter { !$0.isEmpty }.map { field in
            let (name, value) = field.cut(at: "=").map { ($0, $1) } ?? (field, nil)
            return (AdminCall.percentDecoded(name) ?? name, value)
        }
    }

    /// Returns all values of the named parameter.
    func names<Kind>(_ name: ByteString) throws(AdminProblem) -> [Identifier<Kind>] {
        var names: [Identifier<Kind>] = []
        for field in fields where field.name == name {
            if let value = field.value { names.append(try AdminCall.name(value, "the \(name)")) }
        }
        return names
    }

    /// The first value of the named parameter, as it was sent; `nil` if it is absent.
    func value(of name: ByteString) -> ByteString? {
        fields.first { $0.name == name }.map { $0.value ?? "" }
    }

    /// Whether a parameter is present, which can have this value only.
    func has(_ name: ByteString, _ only: ByteString) throws(AdminProblem) -> Bool {
        guard let field = fields.first(where: { $0.name == name }) else { return false }
        guard field.value == only else { throw AdminProblem(.badRequest, "the \(name) can only be \(only)") }
        return true
    }

    /// Returns a numeric parameter; `nil` if it is absent.
    func number<Number: FixedWidthInteger>(
        _ name: ByteString, in range: ClosedRange<Number>
    ) throws(AdminProblem) -> Number? {
        guard let field = fields.first(where: { $0.name == name }) else { return nil }
        guard let number = field.value.flatMap({ Number($0.string) }), range.contains(number) else {
            throw AdminProblem(
                .badRequest, "the \(name) must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Rejects every parameter except `allowed`, for requests where a misspelled parameter would change more than
    /// intended.
    func demand(only allowed: ByteString) throws(AdminProblem) {
        if let other = fields.first(where: { $0.name != allowed || $0.value == nil }) {
            throw AdminProblem(.badRequest, "unknown parameter \(other.name.excerpt); only ?\(allowed)= is supported")
        }
    }
}
