// Answers admin requests: finds the place, checks authorization, and calls the node.

import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import RollcallModel
import RollcallShards

struct AdminResponder: HTTPResponder {
    typealias Context = AdminContext

    let node: any OperatorAccess
    /// The tokens that callers must present, if any.
    let tokens: AdminTokenKeeper
    let audit: AdminAudit
    let refusals: AdminRefusals
    let logger: Logger
    /// The metrics to serve, if this process keeps them here.
    let metrics: PrometheusMetrics?
    /// The most recent log events.
    let events: EventRing

    /// Answers a request. Logs each authorized request that would change something to the audit log.
    ///
    /// - Throws: Only `HTTPParserError`, which the HTTP server answers.
    func respond(to request: Request, context: Context) async throws -> Response {
        var response = try await judge(request, context: context)
        // Browsers must not guess another content type.
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[.init("Cross-Origin-Resource-Policy")!] = "same-origin"
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func judge(_ request: Request, context: Context) async throws -> Response {
        let route = Result { () throws(AdminProblem) in try AdminRoute(path: request.uri.path) }
        let place = try? route.get().place
        if place.map(AdminPlace.open.contains) != true {
            do throws(AdminProblem) {
                try authorize(request, for: place)
            } catch {
                refusals.occurred(error.code, from: context.remoteAddress)
                return error.response
            }
        }
        let response = try await answer(to: request, for: route)
        if request.method.changes(place), response.status != .methodNotAllowed, let route = try? route.get() {
            audit.note(request.method, route, from: context, response.status.code)
        }
        return response
    }

    private func answer(to request: Request, for route: Result<AdminRoute, AdminProblem>) async throws -> Response {
        do {
            return try await answer(to: request, for: try route.get())
        } catch let problem as AdminProblem {
            return problem.response
        } catch let unavailable as Unavailable {
            let reason =
                unavailable.refusesWrites
                ? "Redis refuses writes but answers reads" : "Redis is away, or was until just now"
            return AdminProblem.unavailable(reason, retryAfter: unavailable.retryAfter).response
        } catch let unsettled as Unsettled {
            return AdminProblem.unavailable(
                "this worker has just started, or Redis was away until just now: "
                    + "it does not know all sessions yet", retryAfter: unsettled.retryAfter
            ).response
        } catch is AnswerTooLarge {
            return AdminProblem(.limit, "the response is larger than the worker's limit for one Redis reply").response
        } catch let error as HTTPParserError {
            throw error
        } catch {
            logger.error(
                "admin request failed", metadata: ["method": "\(request.method)", "type": "\(type(of: error))"])
            logger.debug("admin request failure", metadata: ["path": "\(request.uri.path)", "error": "\(error)"])
            return AdminProblem(.internal, "the worker failed; its log says why").response
        }
    }

    private func answer(to request: Request, for route: AdminRoute) async throws -> Response {
        guard request.method != .options else { return options(of: route) }
        // HEAD is answered like GET; the server drops the body.
        switch (route.place, request.method == .head ? .get : request.method, route.user, route.conversation) {
        case (.health, .get, _, _): return AdminJSON.response(AdminHealth())
        case (.ready, .get, _, _): return try ready()
        case (.metrics, .get, _, _): return try page()
        case (.livePage, .get, _, _): return LivePage.page.response
        case (.liveFile, .get, _, _): return (route.file ?? .page).response
        case (.presence, .get, _, _): return try await presence(of: namedUsers(request))
        case (.presence, .post, _, _): return try await presence(of: body(of: request, AdminUsers.self).users)
        case (.workers, .get, _, _): return AdminJSON.response(AdminWorkers(try await node.workers()))
        case (.live, .get, _, _):
            return AdminJSON.response(AdminLive(try await node.live(), events: events.events, at: .hostTime))
        case (.user, .get, let user?, _): return AdminJSON.response(AdminUser(try await node.explanation(of: user)))
        case (.user, .delete, let user?, _): return try await erase(user, request)
        case (.sessions, .delete, let user?, _): return try await sendAway(user, request)
        case (.revocation, .post, let user?, _):
            return AdminJSON.response(try await node.revokeTokens(of: user))
        case (.typing, .get, _, let conversation?):
            return AdminJSON.response(AdminTyping(try await node.typing(in: conversation)))
        case (.members, let method, _, let conversation?): return try await members(of: conversation, method, request)
        case (.member, let method, let user?, let conversation?):
            return try await member(user, of: conversation, method, request)
        default: throw notAllowed(route.place)
        }
    }

    private func options(of route: AdminRoute) -> Response {
        Response(status: .noContent, headers: [.allow: "\(route.place.methods), OPTIONS"])
    }

    private func ready() throws(AdminProblem) -> Response {
        guard node.isReady else {
            let reason =
                node.refusesWrites
                ? "Redis has refused writes for too long" : "this worker is stopping, or Redis was away for too long"
            throw .unavailable(reason, retryAfter: .seconds(1))
        }
        return AdminJSON.response(AdminHealth(status: "ready"))
    }

    private func page() throws(AdminProblem) -> Response {
        guard let metrics else { throw AdminProblem(.notFound, "this process does not serve its metrics here") }
        return Response(
            status: .ok, headers: [.contentType: PrometheusText.contentType, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: metrics.exposition())))
    }

    private func presence(of users: [UserID]) async throws -> Response {
        guard users.count <= AdminUsers.most else {
            throw AdminProblem(.limit, "one request can name at most \(AdminUsers.most) users")
        }
        return AdminJSON.response(AdminPresence(users: try await node.presence(of: users)))
    }

    private func members(
        of conversation: ConversationID, _ method: HTTPRequest.Method, _ request: Request
    ) async throws -> Response {
        switch method {
        case .get:
            return AdminJSON.response(try await members(of: conversation, AdminQuery(request.uri.query)))
        case .put: try await node.setMembers(body(of: request, AdminMembers.self).members, of: conversation)
        case .delete: try await node.endMembership(of: conversation)
        default: throw notAllowed(.members)
        }
        return Response(status: .noContent)
    }

    /// Returns all members, or one page if the query asks for one.
    private func members(of conversation: ConversationID, _ query: AdminQuery) async throws -> AdminMemberList {
        let cursor = try query.number("cursor", in: UInt64.min...UInt64.max)
        let limit = try query.number("limit", in: 1...AdminMemberList.mostOfPage)
        let isPaged = cursor != nil || limit != nil
        let step = limit ?? (isPaged ? AdminMemberList.usualOfPage : AdminMemberList.mostOfPage)
        var from = cursor ?? MembersPage.start
        var members: [UserID: String] = [:]
        while true {
            guard let page = try await node.membersPage(of: conversation, from: from, limit: step) else {
                throw AdminProblem(.notManaged, "the members of this conversation were never set")
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

    private func member(
        _ user: UserID, of conversation: ConversationID, _ method: HTTPRequest.Method, _ request: Request
    ) async throws -> Response {
        switch method {
        case .put:
            try await node.setMember(user, name: body(of: request, AdminMember.self).name.text, of: conversation)
        case .delete: try await node.removeMember(user, of: conversation)
        default: throw notAllowed(.member)
        }
        return Response(status: .noContent)
    }

    private func notAllowed(_ place: AdminPlace) -> AdminProblem {
        AdminProblem(.methodNotAllowed, "this path supports only \(place.methods)", headers: [.allow: place.methods])
    }
}

extension HTTPRequest.Method {
    /// Whether a request to this place changes something and belongs in the audit log. POST to presence only reads.
    func changes(_ place: AdminPlace?) -> Bool {
        place != .presence && ![.get, .head, .options].contains(self)
    }
}
