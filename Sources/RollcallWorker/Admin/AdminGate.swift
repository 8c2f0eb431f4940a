// What is the same for each request to the admin port: who may send it, how errors are answered, and what is logged.

import Crypto
import Foundation
import Hummingbird
import Logging
import Metrics
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import RollcallProtocol
import RollcallServer

/// A request's context with the address that it came from.
struct AdminContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let remote: String
    private let channel: any Channel

    /// Whether the caller may still read an answer.
    func isConnected() -> Bool { channel.isActive }

    init(source: ApplicationRequestContextSource) {
        channel = source.channel
        coreContext = .init(source: source)
        remote = source.channel.remoteAddress?.ipAddress ?? "unknown"
    }
}

/// Stands before all routes.
struct AdminGate: RouterMiddleware {
    typealias Context = AdminContext

    let routes: [AdminRoute]
    /// The tokens that callers must present, if any.
    let tokens: AdminTokens
    let refusals: AdminRefusals
    let audit: AdminAudit
    let logger: Logger

    /// - Throws: Only `HTTPParserError`, which the HTTP server answers.
    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response: Response
        do {
            response = try await answer(request, context, next)
        } catch let problem as AdminProblem {
            response = problem.response
        } catch let error as HTTPParserError {
            throw error
        }
        // Browsers must not guess another content type.
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[.init("Cross-Origin-Resource-Policy")!] = "same-origin"
        return response
    }

    private func answer(
        _ request: Request, _ context: Context, _ next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let method = request.method == .head ? .get : request.method
        let route =
            Self.hasEmptyPart(request.uri.path)
            ? nil : routes.first { $0.method == method && $0.path == context.endpointPath }
        do {
            // Unknown paths need a token too, so that unauthorized callers cannot probe for paths.
            if let role = route.map(\.role) ?? (method == .get ? .read : .operator) { try authorize(request, role) }
        } catch {
            refusals.occurred(error.code, from: context.remote)
            throw error
        }
        if Self.hasEmptyPart(request.uri.path) { throw AdminProblem(.notFound, "there is nothing at this path") }
        var response = try await answered { try await next(request, context) }
        if route?.role != nil {
            response.headers[.keepAlive] = "timeout=\(IdleLimit.longest.nanoseconds / 1_000_000_000)"
        }
        if let route, route.isAudited {
            audit.note(route, AdminCall(request: request, context: context), response.status.code)
        }
        return response
    }

    /// The router ignores empty parts. A name that an app has left empty must not make another path of it: `DELETE
    /// /v1/conversations/c/members/` would end the membership of all.
    private static func hasEmptyPart(_ path: String) -> Bool {
        path.utf8.count > 1 && ByteString(path).parts(at: "/").dropFirst().contains { $0.isEmpty }
    }

    /// The answer; errors of the node as problems.
    private func answered(_ next: () async throws -> Response) async throws -> Response {
        do {
            return try await next()
        } catch let problem as AdminProblem {
            return problem.response
        } catch let unavailable as Unavailable {
            return AdminProblem.unavailable("\(unavailable)", retryAfter: unavailable.retryAfter).response
        } catch let unsettled as Unsettled {
            return AdminProblem.unavailable(
                "this worker has just started, or Redis was away until just now: "
                    + "it does not know all sessions yet", retryAfter: unsettled.retryAfter
            ).response
        } catch let error as HTTPError where error.status == .notFound {
            return AdminProblem(.notFound, "there is nothing at this path").response
        } catch let error as HTTPParserError {
            throw error
        } catch {
            logger.error("admin request failed", metadata: ["type": "\(type(of: error))"])
            logger.debug("admin request failure", metadata: ["error": "\(error)"])
            return AdminProblem(.internal, "the worker failed; its log says why").response
        }
    }

    private func authorize(_ request: Request, _ needed: AdminRole) throws(AdminProblem) {
        guard !tokens.isEmpty else { return try demandOwnName(request) }
        let words = ByteString(request.headers[.authorization] ?? "").parts(at: " ").filter { !$0.isEmpty }
        guard words.count == 2, words[0].isWord("bearer"),
            let role = tokens.role(of: Secret(words[1].utf8))
        else {
            throw AdminProblem(
                .unauthorized, "send a token of this port as Authorization: Bearer TOKEN",
                headers: [.wwwAuthenticate: "Bearer"])
        }
        guard role >= needed else {
            throw AdminProblem(.forbidden, "the token of \(role.key) does not permit this; \(needed.key) does")
        }
    }

    /// Without a token, only this machine can reach the port. But web pages open in its browsers can too, so `Origin`
    /// and `Host` are checked; and so can everybody whose requests a proxy on this machine passes on.
    private func demandOwnName(_ request: Request) throws(AdminProblem) {
        let isForwarded = request.headers.contains {
            let name = ByteString($0.name.canonicalName)
            return name == "forwarded" || name.begins(with: "x-forwarded-")
        }
        if isForwarded {
            throw AdminProblem(
                .unauthorized, "without admin.token_file this port answers no requests that a proxy passes on")
        }
        if let origin = request.headers[.origin], !Loopback.contains(origin: ByteString(origin)) {
            throw AdminProblem(
                .unauthorized, "without admin.token_file this port accepts web pages of this machine only")
        }
        if let authority = request.head.authority.map(ByteString.init), !Loopback.contains(authority: authority) {
            throw AdminProblem(
                .unauthorized,
                "without admin.token_file this port answers only to localhost, not to \(authority.excerpt)")
        }
    }
}

/// Stands before the router: what the worker reads of a request's head is ASCII.
struct ASCIIHeads<Base: HTTPResponder<AdminContext>>: HTTPResponder {
    typealias Context = AdminContext

    let base: Base

    func respond(to request: Request, context: Context) async throws -> Response {
        let read = [
            request.uri.string, request.head.authority, request.headers[.origin], request.headers[.authorization],
        ]
        guard read.allSatisfy({ $0.map { ByteString($0).isASCII } ?? true }) else {
            return AdminProblem(.badRequest, "path, Host, Origin and Authorization must be ASCII: percent-encode names")
                .response
        }
        return try await base.respond(to: request, context: context)
    }
}

/// Refused requests: no token, a wrong token, or a role without permission. Each is counted, and each reason is logged
/// at most once a minute, so that guessed tokens show in the log but cannot flood it.
final class AdminRefusals: Sendable {
    private static let silence = TimeAmount.seconds(60)

    private let states = NIOLockedValueBox<[AdminProblem.Code: (unlogged: Int, logged: NIODeadline?)]>([:])
    private let counters: [AdminProblem.Code: any CounterHandler]
    private let logger: Logger

    init(_ factory: any MetricsFactory, logger: Logger) {
        self.logger = logger
        counters = [AdminProblem.Code.unauthorized, .forbidden, .unavailable].reduce(into: [:]) { counters, code in
            counters[code] = factory.makeCounter(
                label: Metric.adminRefused.rawValue, dimensions: [("reason", code.rawValue)])
        }
    }

    func occurred(_ code: AdminProblem.Code, from remote: String, now: NIODeadline = .now()) {
        counters[code]?.increment(by: 1)
        let count: Int? = states.withLockedValue { states in
            let (unlogged, logged) = states[code] ?? (0, nil)
            let isSilent = logged.map { now - $0 < Self.silence } ?? false
            states[code] = isSilent ? (unlogged + 1, logged) : (0, now)
            return isSilent ? nil : unlogged + 1
        }
        guard let count else { return }
        logger.warning(
            "admin requests refused",
            metadata: ["count": "\(count)", "reason": "\(code.rawValue)", "remote": "\(remote)"])
    }
}

/// The audit log: one line per authorized request that changes something, whatever its outcome. Users appear as a keyed
/// hash of their name: the key holder can find a user's lines, and the log alone identifies no user.
struct AdminAudit: Sendable {
    /// The source of the hash key is the operator token, so workers with the same token write the same hashes. Without
    /// a token the key is random, and hashes match only within one run of one worker.
    let tokens: AdminTokens
    let logger: Logger
    private let drawn = SymmetricKey(size: .bits256)

    init(_ tokens: AdminTokens, logger: Logger) {
        (self.tokens, self.logger) = (tokens, logger)
    }

    func note(_ route: AdminRoute, _ call: AdminCall, _ status: Int) {
        let user = try? call.user()
        var metadata: Logger.Metadata = [
            "method": "\(route.method.rawValue)", "route": "\(route.path)", "status": "\(status)",
            "remote": "\(call.context.remote)",
        ]
        if let user { metadata["subject"] = "\(subject(user))" }
        logger.notice("admin change", metadata: metadata)
        if let user { logger.debug("admin change of a user", metadata: ["user": "\(user)"]) }
    }

    /// Returns the first half of HMAC-SHA256 of the name, in hexadecimal. Its key is derived from the token, so it does
    /// not open the admin port.
    func subject(_ user: UserID) -> String {
        let key =
            tokens.operatorToken.map { token in
                HKDF<SHA256>.deriveKey(
                    inputKeyMaterial: SymmetricKey(data: token.bytes), info: Data("rollcall audit".utf8),
                    outputByteCount: 32)
            } ?? drawn
        let code = HMAC<SHA256>.authenticationCode(for: Data(user.text.utf8), using: key)
        return code.prefix(8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
