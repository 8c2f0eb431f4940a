// Answers the requests of servers and operators: finds the place, checks who asks, and asks the node.

import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import RollcallModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct AdminResponder: HTTPResponder {
    typealias Context = AdminContext

    let node: any OperatorAccess
    /// What callers must show, if anything.
    let token: Secret?
    let audit: AdminAudit
    let logger: Logger
    /// What there is to scrape, if it is kept here.
    let metrics: PrometheusMetrics?

    /// Room for the members of a large conversation.
    static let mostBytes = 4 * 1024 * 1024

    /// Whatever would change something is noted; that presence may be asked for in a body makes it no change.
    ///
    /// - Throws: `HTTPParserError` alone, which the server answers by itself.
    func respond(to request: Request, context: Context) async throws -> Response {
        let response = try await answer(to: request)
        if request.method.changes, response.status != .methodNotAllowed,
            let route = try? AdminRoute(path: request.uri.path), route != .presence
        {
            audit.note(request.method, route, from: context, response.status.code)
        }
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func answer(to request: Request) async throws -> Response {
        do {
            let route = Result { () throws(AdminProblem) in try AdminRoute(path: request.uri.path) }
            if (try? route.get())?.place.isOpen != true { try authorize(request) }
            return try await answer(to: request, for: try route.get())
        } catch let problem as AdminProblem {
            return problem.response
        } catch let unavailable as Unavailable {
            return AdminProblem.unavailable("Redis is away", retryAfter: unavailable.retryAfter).response
        } catch let error as HTTPParserError {
            throw error
        } catch {
            logger.error(
                "admin request failed", metadata: ["method": "\(request.method)", "type": "\(type(of: error))"])
            logger.debug("an admin request's failure", metadata: ["path": "\(request.uri.path)", "error": "\(error)"])
            return AdminProblem(.internal, "the worker failed; its log says why").response
        }
    }

    private func answer(to request: Request, for route: AdminRoute) async throws -> Response {
        guard request.method != .options else { return options(of: route) }
        // HEAD is answered as GET is; its body goes last.
        switch (route, request.method == .head ? .get : request.method) {
        case (.health, .get): return AdminJSON.response(AdminHealth())
        case (.ready, .get): return try ready()
        case (.metrics, .get): return try page()
        case (.document, .get): return AdminDocument.response
        case (.presence, .get): return try await presence(of: namedUsers(request))
        case (.presence, .post): return try await presence(of: body(of: request, AdminUsers.self).users)
        case (.workers, .get): return AdminJSON.response(AdminWorkers(try await node.workers()))
        case (.user(let user), .get): return AdminJSON.response(AdminUser(try await node.explanation(of: user)))
        case (.user(let user), .delete): return try await erase(user, request)
        case (.sessions(let user), .delete): return try await sendAway(user, request)
        case (.revocation(let user), .post): return AdminJSON.response(try await node.revokeTokens(of: user))
        case (.typing(let conversation), .get):
            return AdminJSON.response(try await node.typing(in: conversation))
        case (.members(let conversation), let method): return try await members(of: conversation, method, request)
        case (.member(let user, let conversation), let method):
            return try await member(user, of: conversation, method, request)
        case (let route, _): throw notAllowed(route)
        }
    }

    private func options(of route: AdminRoute) -> Response {
        Response(status: .noContent, headers: [.allow: "\(route.place.methods), OPTIONS"])
    }

    private func ready() throws(AdminProblem) -> Response {
        guard node.isReady else {
            throw .unavailable("this worker stops, or Redis has been away for long", retryAfter: .seconds(1))
        }
        return AdminJSON.response(AdminHealth(status: "ready"))
    }

    private func page() throws(AdminProblem) -> Response {
        guard let metrics else { throw AdminProblem(.notFound, "the metrics of this process are reported elsewhere") }
        return Response(
            status: .ok, headers: [.contentType: PrometheusText.contentType, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: metrics.exposition())))
    }

    private func presence(of users: [UserID]) async throws -> Response {
        guard users.count <= AdminUsers.most else {
            throw AdminProblem(.limit, "at most \(AdminUsers.most) users can be asked for at once")
        }
        return AdminJSON.response(AdminPresence(users: try await node.presence(of: users)))
    }

    private func members(
        of conversation: ConversationID, _ method: HTTPRequest.Method, _ request: Request
    ) async throws -> Response {
        switch method {
        case .get:
            guard let members = try await node.members(of: conversation) else {
                throw AdminProblem(.notManaged, "members of this conversation were never set")
            }
            return AdminJSON.response(AdminMembers(members))
        case .put: try await node.setMembers(body(of: request, AdminMembers.self).members, of: conversation)
        case .delete: try await node.endMembership(of: conversation)
        default: throw notAllowed(.members(of: conversation))
        }
        return Response(status: .noContent)
    }

    private func member(
        _ user: UserID, of conversation: ConversationID, _ method: HTTPRequest.Method, _ request: Request
    ) async throws -> Response {
        switch method {
        case .put:
            try await node.setMember(user, name: body(of: request, AdminMember.self).name.text, of: conversation)
        case .delete: try await node.removeMember(user, of: conversation)
        default: throw notAllowed(.member(user, of: conversation))
        }
        return Response(status: .noContent)
    }

    private func notAllowed(_ route: AdminRoute) -> AdminProblem {
        AdminProblem(.methodNotAllowed, "here one can \(route.place.methods)", headers: [.allow: route.place.methods])
    }
}

extension AdminResponder {
    /// Unknown paths ask for the token too, so that who has none cannot explore.
    private func authorize(_ request: Request) throws(AdminProblem) {
        guard let token else { return try demandOwnName(request) }
        let words = (request.headers[.authorization] ?? "").split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bearer", Secret(words[1].utf8) == token else {
            throw AdminProblem(
                .unauthorized, "show the token of admin.token_file as Authorization: Bearer TOKEN",
                headers: [.wwwAuthenticate: "Bearer"])
        }
    }

    /// Without a token only this machine reaches the port; but so does any web page that is looked at on it.
    private func demandOwnName(_ request: Request) throws(AdminProblem) {
        if let origin = request.headers[.origin], !Loopback.contains(origin: origin) {
            throw AdminProblem(
                .unauthorized, "without admin.token_file this port answers to no web page but this machine's own")
        }
        if let authority = request.head.authority, !Loopback.contains(authority: authority) {
            throw AdminProblem(
                .unauthorized, "without admin.token_file this port answers to localhost only, not to \(authority)")
        }
    }

    private func namedUsers(_ request: Request) throws(AdminProblem) -> [UserID] {
        let users: [UserID] = try AdminQuery(request.uri.query).names("user")
        guard !users.isEmpty else { throw AdminProblem(.badRequest, "name users: ?user=alice&user=bob") }
        return users
    }

    /// A body that says nothing of itself is taken for JSON.
    private func demandJSON(_ request: Request) throws(AdminProblem) {
        guard let type = request.headers[.contentType] else { return }
        let essence = type.prefix { $0 != ";" }.trimmingPrefix(" ").lowercased().split(separator: " ").first
        guard essence == "application/json" else {
            throw AdminProblem(.unsupportedMediaType, "the body must be application/json (curl --json sends it so)")
        }
    }

    private func body<Body: AdminRequestBody>(of request: Request, _: Body.Type) async throws -> Body {
        try demandJSON(request)
        let bytes: ByteBuffer
        do {
            bytes = try await request.body.collect(upTo: Self.mostBytes)
        } catch is NIOTooManyBytesError {
            throw AdminProblem(.tooLarge, "the body is larger than \(Self.mostBytes) bytes")
        } catch let error as HTTPParserError {
            throw error
        } catch {
            throw AdminProblem(.badRequest, "the body did not arrive whole")
        }
        do {
            return try JSONDecoder().decode(Body.self, from: Data(bytes.readableBytesView))
        } catch let error as DecodingError {
            throw AdminProblem(.badRequest, "the body must look like \(Body.form); \(error.reason)")
        }
    }
}

extension AdminResponder {
    private func sendAway(_ user: UserID, _ request: Request) async throws -> Response {
        let query = AdminQuery(request.uri.query)
        try query.demand(only: "device")
        let devices: [DeviceID] = try query.names("device")
        guard devices.count <= 1 else { throw AdminProblem(.badRequest, "name one device, or none for all") }
        return AdminJSON.response(try await node.sendAway(user, device: devices.first))
    }

    private func erase(_ user: UserID, _ request: Request) async throws -> Response {
        let query = AdminQuery(request.uri.query)
        try query.demand(only: "conversation")
        let conversations: [ConversationID] = try query.names("conversation")
        guard conversations.count <= AdminUsers.most else {
            throw AdminProblem(.limit, "at most \(AdminUsers.most) conversations can be named at once")
        }
        guard try await node.erase(user, conversations: conversations) else {
            throw AdminProblem.unavailable("a session of the user would not end", retryAfter: .seconds(1))
        }
        return Response(status: .noContent)
    }
}

extension HTTPRequest.Method {
    /// Whether a request with it is to change something, and belongs into the audit.
    fileprivate var changes: Bool { self == .put || self == .post || self == .delete || self == .patch }
}

extension DecodingError {
    fileprivate var reason: String {
        switch self {
        case .keyNotFound(let key, _): "\"\(key.stringValue)\" is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            context.debugDescription
        @unknown default: "it could not be read"
        }
    }
}
