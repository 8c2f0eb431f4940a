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
    typealias Context = BasicRequestContext

    let node: any NodeAccess
    /// What callers must show, if anything.
    let token: Secret?
    let logger: Logger
    /// What there is to scrape, if it is kept here.
    let metrics: PrometheusMetrics?

    /// Room for the members of a large conversation.
    static let mostBytes = 4 * 1024 * 1024

    /// - Throws: `HTTPParserError` alone, which the server answers by itself.
    func respond(to request: Request, context: Context) async throws -> Response {
        do {
            let response = try await answer(to: request)
            return request.method == .head ? response.createHeadResponse() : response
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

    private func answer(to request: Request) async throws -> Response {
        let route = Result { () throws(AdminProblem) in try AdminRoute(path: request.uri.path) }
        if (try? route.get())?.isOpen != true { try authorize(request) }
        switch (try route.get(), request.method) {
        case (.health, .get), (.health, .head): return AdminJSON.response(AdminHealth())
        case (.ready, .get), (.ready, .head): return try ready()
        case (.metrics, .get), (.metrics, .head): return try page()
        case (.presence, .get), (.presence, .head): return try await presence(of: namedUsers(request))
        case (.presence, .post): return try await presence(of: body(of: request, AdminUsers.self).users)
        case (.typing(let conversation), .get), (.typing(let conversation), .head):
            return AdminJSON.response(try await node.typing(in: conversation))
        case (.members(let conversation), let method): return try await members(of: conversation, method, request)
        case (.member(let user, let conversation), let method):
            return try await member(user, of: conversation, method, request)
        case (let route, _): throw notAllowed(route)
        }
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
        case .get, .head:
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
        AdminProblem(.methodNotAllowed, "here one can \(route.methods)", headers: [.allow: route.methods])
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
        if let authority = request.head.authority, !Loopback.contains(authority: authority) {
            throw AdminProblem(
                .unauthorized, "without admin.token_file this port answers to localhost only, not to \(authority)")
        }
    }

    private func namedUsers(_ request: Request) throws(AdminProblem) -> [UserID] {
        var users: [UserID] = []
        for field in (request.uri.query ?? "").split(separator: "&") where field.hasPrefix("user=") {
            users.append(try AdminName.decoded(field.dropFirst("user=".count), "the user"))
        }
        guard !users.isEmpty else { throw AdminProblem(.badRequest, "name users: ?user=alice&user=bob") }
        return users
    }

    private func body<Body: AdminRequestBody>(of request: Request, _: Body.Type) async throws -> Body {
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
