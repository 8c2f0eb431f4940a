// The page's server listens on the loopback interface, where any web page in the user's browser can reach it. It
// therefore answers only requests for its own host name, against DNS rebinding, and lets only its own page change
// anything.

import Hummingbird
import RollcallWorker

/// Rejects requests that do not come from the demo page.
struct OwnPageOnly<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard Self.permits(request) else { return Response(status: .forbidden) }
        return try await next(request, context)
    }

    /// Whether a request is allowed. Browsers send an `Origin` with every `POST`; one without it does not come from the
    /// page.
    static func permits(_ request: Request) -> Bool {
        guard let authority = request.head.authority, Loopback.contains(authority: authority) else { return false }
        return request.method == .get || request.method == .head || request.headers[.origin] == "http://\(authority)"
    }
}
