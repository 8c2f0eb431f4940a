// Serves the demo page from memory on the loopback interface. Its files are in `Demo/`; there is no build step.

import CPages
import Foundation
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import RollcallBrowser
import RollcallProtocol
import RollcallWorker
import Synchronization

/// The page's server. It listens before anything else starts, because the workers must know which origin may connect.
final class DemoPage: Sendable {
    private let stage = Mutex<Deployment?>(nil)

    /// The port that is tried first if none is requested.
    private static let preferredPort = 8000

    /// Makes the page usable.
    func show(_ deployment: Deployment) {
        stage.withLock { $0 = deployment }
    }

    /// Serves the page as long as `work` runs, and passes it the port.
    ///
    /// - Parameter port: the port to listen on, 0 for any; `nil` for the preferred one or, if that is taken, any.
    func during(port: Int?, _ work: @escaping @Sendable (_ port: Int) async throws -> Void) async throws {
        do {
            try await serve(on: port ?? Self.preferredPort, work)
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            guard port == nil else { throw PartFailed("port \(port ?? 0) is taken by another program") }
            try await serve(on: 0, work)
        }
    }

    private func serve(on port: Int, _ work: @escaping @Sendable (_ port: Int) async throws -> Void) async throws {
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        var logger = Logger(label: "demo")
        logger.logLevel = .critical
        let application = Application(
            router: router,
            server: HTTPConnections.server,
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { channel in listening.yield(channel.localAddress?.port ?? port) }, logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { listening.finish() }
                try await application.run()
            }
            group.addTask { for await port in ports { return try await work(port) } }
            defer { group.cancelAll() }
            try await group.next()
            group.cancelAll()
            // If the server could not begin, the work has not begun either, and this has the reason.
            try await group.next()
        }
    }

    private var router: Router<BasicRequestContext> {
        let router = Router()
        router.add(middleware: OwnPageOnly())
        router.get("settings.json") { _, _ in try await self.settings() }
        router.post("parts/:part/crash") { _, context in try await self.act(context) { await $0.crash($1) } }
        router.post("parts/:part/start") { _, context in try await self.act(context) { try await $0.start($1) } }
        router.get("people/:user") { _, context in try await self.askWorker(.GET, "person", context) }
        router.put("people/:user/blocked/:other") { _, context in try await self.askWorker(.PUT, "blocked", context) }
        router.delete("people/:user/blocked/:other") { _, context in
            try await self.askWorker(.DELETE, "blocked", context)
        }
        for file in Self.files + BrowserFile.all.map({ (path: $0.name, type: $0.contentType, bytes: $0.bytes) }) {
            router.get(RouterPath(file.path)) { _, _ in Self.response(file.bytes, type: file.type) }
        }
        return router
    }

    /// In the order of `CPages.c`.
    private static let files = [
        "index.html", "demo.css", "demo.js", "chat.js", "crowd.js", "device.js", "lab.js", "language.js", "screen.js",
        "icon.svg",
    ].enumerated().map { number, path in
        let type =
            path.hasSuffix(".js")
            ? "text/javascript; charset=utf-8"
            : path.hasSuffix(".css")
                ? "text/css; charset=utf-8" : path.hasSuffix(".svg") ? "image/svg+xml" : "text/html; charset=utf-8"
        return (
            path: path == "index.html" ? "" : path, type: type,
            bytes: Array(String(cString: demo_file(Int32(number))).utf8)
        )
    }

    /// Allows the page's own scripts, styles and images, and WebSockets to this machine; nothing else.
    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
        connect-src 'self' ws://127.0.0.1:* ws://localhost:*; base-uri 'none'; form-action 'none'; \
        frame-ancestors 'none'
        """

    private static func response(_ bytes: some Sequence<UInt8>, type: String) -> Response {
        Response(
            status: .ok,
            headers: [
                .contentType: type, .contentSecurityPolicy: policy, .cacheControl: "no-store",
                .xContentTypeOptions: "nosniff",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    private struct Settings: Encodable {
        let workers: [DevWorker]
        /// The parts that were crashed and not started again yet.
        let down: [String]
    }

    private func settings() async throws -> Response {
        guard let deployment = stage.withLock({ $0 }) else { return Response(status: .serviceUnavailable) }
        var down: [String] = []
        for name in Deployment.names where await !deployment.isUp(name) { down.append(name) }
        let settings = Settings(workers: await deployment.ready, down: down)
        return Self.response(try JSONEncoder().encode(settings), type: "application/json")
    }

    /// Passes on what only an app's server may ask. A real one takes the user from their sign-in, and stops the messages too.
    private func askWorker(
        _ method: HTTPMethod, _ what: String, _ context: some RequestContext
    ) async throws -> Response {
        let other = context.parameters.get("other").map { [$0] } ?? []
        let path = try ["users", context.parameters.require("user"), what] + other
        let uri = "/v1/" + path.map(AdminOptions.encoded).joined(separator: "/")
        for worker in await stage.withLock({ $0 })?.ready ?? [] {
            guard let address = HTTPAddress(worker.admin) else { continue }
            guard let answer = try? await HTTPClient(address, tls: nil).send(method, uri) else { continue }
            return Response(
                status: .init(code: Int(answer.status.code)), headers: [.contentType: "application/json"],
                body: ResponseBody(byteBuffer: answer.body))
        }
        return Response(status: .serviceUnavailable)
    }

    /// - Returns: 204 when done, 404 if there is no such part, 503 with the reason if the action failed.
    private func act(
        _ context: some RequestContext, _ action: (Deployment, String) async throws -> Void
    ) async throws -> Response {
        let name = try context.parameters.require("part")
        guard let deployment = stage.withLock({ $0 }), Deployment.names.contains(name) else {
            return Response(status: .notFound)
        }
        do {
            try await action(deployment, name)
            return Response(status: .noContent)
        } catch {
            return Response(
                status: .serviceUnavailable, body: ResponseBody(byteBuffer: ByteBuffer(string: "\(error)")))
        }
    }
}

/// Rejects requests that do not come from the demo page: any web page in the user's browser can reach the loopback
/// interface. So only requests for this host's own name are answered, against DNS rebinding, and only the page itself may
/// change anything.
private struct OwnPageOnly<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard let authority = request.head.authority.map(ByteString.init), Loopback.contains(authority: authority),
            // Browsers send an `Origin` with every `POST`; one without it does not come from the page.
            request.method == .get || request.method == .head
                || request.headers[.origin].map(ByteString.init) == ByteString("http://\(authority)")
        else { return Response(status: .forbidden) }
        return try await next(request, context)
    }
}
