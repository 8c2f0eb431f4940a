// What a request shows, names and carries.

import Hummingbird
import NIOCore
import NIOHTTP1
import RollcallModel

extension AdminResponder {
    /// Room for the members of a large conversation.
    static let mostBytes = 4 * 1024 * 1024

    /// Unknown paths ask for a token too, so that who has none cannot explore.
    ///
    /// - Parameter place: where the request leads; `nil` for nowhere.
    func authorize(_ request: Request, for place: AdminPlace?) throws(AdminProblem) {
        let tokens = tokens.tokens
        guard !tokens.isEmpty else { return try demandOwnName(request) }
        let words = (request.headers[.authorization] ?? "").parts(at: " ").filter { !$0.isEmpty }
        guard words.count == 2, words[0].lowercased() == "bearer",
            let role = tokens.role(of: Secret(words[1].utf8))
        else {
            throw AdminProblem(
                .unauthorized, "show the token of admin.token_file as Authorization: Bearer TOKEN",
                headers: [.wwwAuthenticate: "Bearer"])
        }
        let needed: AdminRole =
            request.method.changes(place) ? .operator : place == .metrics ? .metrics : .read
        guard role >= needed else {
            throw AdminProblem(.forbidden, "the token of \(role.key) is not enough here: \(needed.key) is")
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

    func namedUsers(_ request: Request) throws(AdminProblem) -> [UserID] {
        let users: [UserID] = try AdminQuery(request.uri.query).names("user")
        guard !users.isEmpty else { throw AdminProblem(.badRequest, "name users: ?user=alice&user=bob") }
        return users
    }

    /// A body that says nothing of itself is taken for JSON.
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
            throw AdminProblem(.badRequest, "the body did not arrive whole")
        }
        do {
            return try Body(jsonText: bytes.readableBytesView)
        } catch let error as UnexpectedJSON {
            throw AdminProblem(.badRequest, "the body must look like \(Body.form); \(error)")
        }
    }
}
