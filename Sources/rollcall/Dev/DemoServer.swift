// Serves the demo page from memory on the loopback interface. Its files are in `Demo/`; there is no build step.

import Foundation
import Hummingbird
import Logging
import NIOCore
import Synchronization

/// The settings of the page, served as `settings.json`.
struct DemoSettings: Sendable, Encodable {
    let redis: PrivateRedis
    let workers: [DevWorker]
    /// The parts that were crashed and not started again yet.
    var down: [String] = []
}

/// The page's server. It listens before anything else starts, because the workers must know which origin may connect.
final class DemoServer: Sendable {
    private let stage = Mutex<Stage?>(nil)

    private struct Stage {
        let settings: DemoSettings
        let parts: [String: any Crashable]
    }

    /// The port that is tried first if none is requested.
    static let preferredPort = 8000

    /// Makes the page usable.
    ///
    /// - Parameter parts: what the page may crash and start again, by name.
    func show(_ settings: DemoSettings, parts: [String: any Crashable]) {
        stage.withLock { $0 = Stage(settings: settings, parts: parts) }
    }

    /// Serves the page as long as `work` runs, and passes it the port.
    ///
    /// - Parameter port: the port to listen on, 0 for any; `nil` for the preferred one or, if that is taken, any.
    func during<Result: Sendable>(
        port: Int?, _ work: @escaping @Sendable (_ port: Int) async throws -> Result
    ) async throws -> Result {
        do {
            return try await serve(on: port ?? Self.preferredPort, work)
        } catch is PortTaken where port == nil {
            return try await serve(on: 0, work)
        }
    }

    private func serve<Result: Sendable>(
        on port: Int, _ work: @escaping @Sendable (_ port: Int) async throws -> Result
    ) async throws -> Result {
        let listening = AsyncStream<Int>.makeStream()
        let application = application(port: port) { listening.continuation.yield($0) }
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask {
                defer { listening.continuation.finish() }
                do {
                    try await application.run()
                } catch let error as IOError where error.errnoCode == EADDRINUSE {
                    throw PortTaken(port: port)
                }
                return nil
            }
            group.addTask {
                for await port in listening.stream { return try await work(port) }
                return nil
            }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let result { return result }
            }
            throw CancellationError()
        }
    }

    private func application(port: Int, listening: @escaping @Sendable (Int) -> Void) -> some ApplicationProtocol {
        let router = Router()
        router.add(middleware: OwnPageOnly())
        router.get("settings.json") { _, _ in try await self.settings() }
        router.post("parts/:part/crash") { _, context in try await self.act(context) { await $0.crash() } }
        router.post("parts/:part/start") { _, context in try await self.act(context) { try await $0.start() } }
        for file in DemoFile.all {
            router.get(RouterPath(file.path)) { _, _ in file.response }
        }
        var logger = Logger(label: "demo")
        logger.logLevel = .critical
        return Application(
            router: router,
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { channel in listening(channel.localAddress?.port ?? port) },
            logger: logger)
    }

    private func settings() async throws -> Response {
        guard let stage = stage.withLock({ $0 }) else { return Response(status: .serviceUnavailable) }
        var settings = stage.settings
        for (name, part) in stage.parts where await !part.isUp { settings.down.append(name) }
        return DemoFile.response(try JSONEncoder().encode(settings), type: "application/json")
    }

    /// - Returns: 204 when done, 404 if there is no such part, 503 with the reason if the action failed.
    private func act(
        _ context: some RequestContext, _ action: (any Crashable) async throws -> Void
    ) async throws -> Response {
        let name = try context.parameters.require("part")
        guard let part = stage.withLock({ $0?.parts[name] }) else { return Response(status: .notFound) }
        do {
            try await action(part)
            return Response(status: .noContent)
        } catch {
            let reason = ByteBuffer(string: "\(error)")
            return Response(status: .serviceUnavailable, body: ResponseBody(byteBuffer: reason))
        }
    }
}

/// The requested port is not free.
struct PortTaken: Error, CustomStringConvertible {
    let port: Int

    var description: String { "port \(port) is taken by another program" }
}
