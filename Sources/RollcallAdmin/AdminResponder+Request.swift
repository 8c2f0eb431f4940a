// Authorization, queries and bodies of requests.

import Hummingbird
import NIOCore
import NIOHTTP1
import RollcallConfiguration
import RollcallModel
import RollcallShards

extension AdminResponder {
    /// Large enough for the members of a large conversation.
    static let mostBytes = 4 * 1024 * 1024

    /// Checks the request's token. Unknown paths need a token too, so that unauthorized callers cannot probe for paths.
    ///
    /// - Parameter place: The place that the path names; `nil` if it names none.
    func authorize(_ request: Request, for place: AdminPlace?) throws(AdminProblem) {
        let tokens = tokens.tokens
        guard !tokens.isEmpty else { return try demandOwnName(request) }
        let words = (request.headers[.authorization] ?? "").parts(at: " ").filter { !$0.isEmpty }
        guard words.count == 2, words[0].lowercased() == "bearer",
            let role = tokens.role(of: Secret(words[1].utf8))
        else {
            throw AdminProblem(
                .unauthorized, "send a token of this port as Authorization: Bearer TOKEN",
                headers: [.wwwAuthenticate: "Bearer"])
        }
        let needed: AdminRole =
            request.method.changes(place) ? .operator : place == .metrics ? .metrics : .read
        guard role >= needed else {
            throw AdminProblem(.forbidden, "the token of \(role.key) does not permit this; \(needed.key) does")
        }
    }

    /// Without a token, only this machine can reach the port. But web pages open in its browsers can too, so `Origin`
    /// and `Host` are checked.
    private func demandOwnName(_ request: Request) throws(AdminProblem) {
        if let origin = request.headers[.origin], !Loopback.contains(origin: origin) {
            throw AdminProblem(
                .unauthorized, "without admin.token_file this port accepts web pages of this machine only")
        }
        if let authority = request.head.authority, !Loopback.contains(authority: authority) {
            throw AdminProblem(
                .unauthorized, "without admin.token_file this port answers only to localhost, not to \(authority)")
        }
    }

    func namedUsers(_ request: Request) throws(AdminProblem) -> [UserID] {
        let users: [UserID] = try AdminQuery(request.uri.query).names("user")
        guard !users.isEmpty else { throw AdminProblem(.badRequest, "name the users, as in ?user=alice&user=bob") }
        return users
    }

    /// A body without a content type is treated as JSON.
    private func demandJSON(_ request: Request) throws(AdminProblem) {
        guard let type = request.headers[.contentType] else { return }
        let essence = type.parts(at: ";")[0].parts(at: " ").first { !$0.isEmpty }
        guard essence?.lowercased().isSame(as: "application/json") == true else {
            throw AdminProblem(.unsupportedMediaType, "the body must be application/json (curl --json sends it so)")
        }
    }

    func body<Body: AdminRequestBody>(of request: Request, _: Body.Type) async throws -> Body {
        try demandJSON(request)
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
            return try Body(jsonText: bytes.readableBytesView)
        } catch let error as UnexpectedJSON {
            throw AdminProblem(.badRequest, "the body must have the form \(Body.form); \(error)")
        }
    }
}
