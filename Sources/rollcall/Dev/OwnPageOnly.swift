// The page's server listens on loopback, where every web page in the person's browser can reach it too. So it answers
// to its own name only, which a rebound name of another site is not, and lets only its own page change anything.

import Hummingbird
import RollcallWorker

/// Turns away whatever does not come from the demo page.
struct OwnPageOnly<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard Self.permits(request) else { return Response(status: .forbidden) }
        return try await next(request, context)
    }

    /// A browser says with every `POST` which page it comes from; without that word it is not the page.
    static func permits(_ request: Request) -> Bool {
        guard let authority = request.head.authority, Loopback.contains(authority: authority) else { return false }
        return request.method == .get || request.method == .head || request.headers[.origin] == "http://\(authority)"
    }
}
