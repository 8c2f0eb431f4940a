// The admin port: HTTP for servers and operators. It is separate from the client port so that it can be kept private.

import Hummingbird
import HummingbirdCore
package import Logging
import Metrics
package import NIOCore
import NIOPosix
import RollcallRedis
package import RollcallServer
import ServiceLifecycle

/// Serves the admin port until shutdown.
package struct AdminServer: Service {
    private let configuration: WorkerConfiguration.Admin
    private let tokens: AdminTokens
    private let responder: ASCIIHeads<RouterResponder<AdminContext>>
    private let refusals: AdminRefusals
    private let group: any EventLoopGroup
    /// The TLS certificate; `nil` without TLS.
    private let certificate: CertificateKeeper?
    private let logger: Logger
    private let listening: @Sendable (SocketAddress) async -> Void

    /// How long shutdown waits for requests in progress.
    private static let farewell = Duration.seconds(2)

    /// - Parameter listening: Called once with the port's address, before any connection is accepted. If the
    ///   configuration names port 0, the address has the port that was picked.
    package init(
        _ configuration: WorkerConfiguration.Admin, node: any OperatorAccess, group: any EventLoopGroup, logger: Logger,
        metrics: PrometheusMetrics? = nil, events: EventRing = EventRing(), access: AccessProvider? = nil,
        certificate: CertificateKeeper? = nil,
        listening: @escaping @Sendable (SocketAddress) async -> Void = { _ in }
    ) {
        (self.configuration, self.group) = (configuration, group)
        (self.certificate, self.listening) = (certificate, listening)
        tokens = AdminTokens(configuration, logger: logger)
        refusals = AdminRefusals(metrics ?? MetricsSystem.factory, logger: logger)
        let routes = AdminRoutes(node: node, metrics: metrics, events: events, access: access).all
        responder = Self.responder(
            routes,
            AdminGate(
                routes: routes, tokens: tokens, refusals: refusals,
                audit: AdminAudit(tokens, logger: logger.unkept), logger: logger))
        // Raises the library's log level, because Rollcall logs these events itself.
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .notice)
        self.logger = quiet
    }

    private static func responder(_ routes: [AdminRoute], _ gate: AdminGate) -> ASCIIHeads<
        RouterResponder<AdminContext>
    > {
        let router = Router(context: AdminContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: gate)
        for route in routes {
            router.on(RouterPath(route.path), method: route.method) { request, context in
                try await route.answer(AdminCall(request: request, context: context))
            }
        }
        for (path, routes) in Dictionary(grouping: routes, by: \.path) {
            let methods = routes.map(\.method)
            let allowed = methods.map { $0 == .get ? "GET, HEAD" : $0.rawValue }.joined(separator: ", ")
            for method in [HTTPRequest.Method.get, .post, .put, .delete, .patch, .options]
            where !methods.contains(method) {
                router.on(RouterPath(path), method: method) { _, _ -> Response in
                    throw AdminProblem(
                        .methodNotAllowed, "this path supports only \(allowed)", headers: [.allow: allowed])
                }
            }
        }
        return ASCIIHeads(base: router.buildResponder())
    }

    /// Listens and answers until the graceful shutdown of its service group and until `last` has returned, so that
    /// health checks can observe the shutdown.
    ///
    /// - Throws: ``ListenError`` if it cannot listen on the configured address; any error of `last`.
    package func run(until last: () async throws -> Void) async throws {
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        // In a separate service group, because everything in the worker's group is shut down with it.
        var settings = ServiceGroupConfiguration(
            services: [self], logger: Logger(label: "rollcall.admin") { _ in SwiftLogNoOpLogHandler() })
        settings.maximumGracefulShutdownDuration = Self.farewell
        let services = ServiceGroup(configuration: settings)
        let port = Task.detached {
            defer { end.finish() }
            try await services.run()
        }
        for await _ in ended.cancelOnGracefulShutdown() {}
        guard Task.isShuttingDownGracefully || Task.isCancelled else { return try await port.value }
        let result: Result<Void, any Error>
        do { result = .success(try await last()) } catch { result = .failure(error) }
        await services.triggerGracefulShutdown()
        _ = await port.result
        try result.get()
    }

    /// Listens and answers until the graceful shutdown of its service group, or until its task is cancelled.
    ///
    /// - Throws: ``ListenError`` if it cannot listen on the configured address.
    package func run() async throws {
        try await withThrowingTaskGroup { tasks in
            tasks.addTask { [tokens] in await tokens.run() }
            defer { tasks.cancelAll() }
            try await serve()
        }
    }

    private func serve() async throws {
        try await withThrowingTaskGroup { tasks in
            do {
                let address = try await Listening.onEach(
                    of: configuration.host, port: configuration.port, on: group.next()
                ) { address in
                    let (bound, report) = AsyncThrowingStream<SocketAddress, any Error>.makeStream()
                    tasks.addTask {
                        let connections = AdminConnections(
                            most: OpenFileLimit.adminConnections(), spare: OpenFileLimit.adminSpare, refusals: refusals)
                        let application = application(on: address, connections) { report.yield($0) }
                        let result = await Result {
                            try await withGracefulShutdownHandler {
                                try await application.run()
                            } onGracefulShutdown: {
                                connections.stop()
                            }
                        }
                        report.finish(throwing: result.failure)
                    }
                    for try await address in bound { return address }
                    throw CancellationError()
                }
                await listening(address)
            } catch  where error is IOError || error is SocketAddressError || error is NameLookupFailure {
                tasks.cancelAll()
                throw ListenError(.admin, host: configuration.host, port: configuration.port, cause: error)
            }
            try await tasks.waitForAll()
        }
    }

    private func application(
        on address: SocketAddress, _ connections: AdminConnections,
        listening: @escaping @Sendable (SocketAddress) -> Void
    ) -> Application<ASCIIHeads<RouterResponder<AdminContext>>> {
        let certificate = certificate
        return Application(
            responder: responder,
            server: HTTPServerBuilder { responder in
                HTTPConnections(
                    HTTP1Channel(
                        responder: responder,
                        configuration: .init(additionalChannelHandlers: [IdleLimit(connections)])),
                    certificate: certificate)
            },
            configuration: ApplicationConfiguration(
                address: .hostname(address.ipAddress ?? configuration.host, port: address.port ?? 0),
                availableConnectionsDelegate: connections),
            onServerRunning: { channel in
                await keepAccepting(channel)
                if let address = channel.localAddress { listening(address) }
            },
            eventLoopGroupProvider: .shared(group), logger: logger)
    }

    /// Keeps the listener open when no file descriptor is free. The library would treat a failed accept as the
    /// listener's end.
    private func keepAccepting(_ listener: any Channel) async {
        try? await listener.eventLoop.submit { [logger] in
            let gate = AcceptGate(onShortage: { logger.outOfFiles($0, port: "admin") })
            try listener.pipeline.syncOperations.addHandler(gate, position: .first)
        }.get()
    }
}
