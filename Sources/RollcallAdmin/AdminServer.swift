// The admin port: HTTP for servers and operators. It is separate from the client port so that it can be kept private.

import Hummingbird
package import Logging
import Metrics
package import NIOCore
import NIOPosix
package import RollcallListener
package import RollcallShards
import ServiceLifecycle

/// Serves the admin port until shutdown.
package struct AdminServer: Service {
    private let configuration: WorkerConfiguration.Admin
    private let responder: AdminResponder
    private let tokens: AdminTokenKeeper
    private let group: any EventLoopGroup
    private let connections: AdminConnections
    /// The TLS certificate; `nil` without TLS.
    private let certificate: CertificateKeeper?
    private let logger: Logger
    private let listening: @Sendable (SocketAddress) async -> Void

    private static let silent = Logger(label: "rollcall.admin") { _ in SwiftLogNoOpLogHandler() }

    /// How long a connection may be idle between two requests.
    private static let idle = TimeAmount.seconds(60)

    /// How long shutdown waits for requests in progress.
    private static let farewell = Duration.seconds(2)

    /// - Parameter listening: Called once with the port's address, before any connection is accepted. If the
    ///   configuration names port 0, the address has the port that was picked.
    package init(
        _ configuration: WorkerConfiguration.Admin, node: any OperatorAccess, group: any EventLoopGroup, logger: Logger,
        metrics: PrometheusMetrics? = nil, events: EventRing = EventRing(),
        connections: AdminConnections = AdminConnections(), certificate: CertificateKeeper? = nil,
        listening: @escaping @Sendable (SocketAddress) async -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.group = group
        self.connections = connections
        self.certificate = certificate
        self.listening = listening
        tokens = AdminTokenKeeper(configuration, logger: logger)
        responder = AdminResponder(
            node: node, tokens: tokens, audit: AdminAudit(tokens, logger: logger.unkept),
            refusals: AdminRefusals(metrics ?? MetricsSystem.factory, logger: logger),
            logger: logger, metrics: metrics, events: events)
        // Raises the library's log level, because Rollcall logs these events itself.
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .notice)
        self.logger = quiet
    }

    /// Listens and answers until the graceful shutdown of its service group and until `last` has returned, so that
    /// health checks can observe the shutdown.
    ///
    /// - Throws: ``ListenError`` if it cannot listen on the configured address; any error of `last`.
    package func run(until last: () async throws -> Void) async throws {
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        // In a separate service group, because everything in the worker's group is shut down with it.
        var settings = ServiceGroupConfiguration(services: [self], logger: Self.silent)
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
        let application = Application(
            responder: responder,
            server: .http1(
                configuration: .init(
                    additionalChannelHandlers: [BadHTTPHandler.Entry(connections, certificate)],
                    idleTimeout: Self.idle)),
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.host, port: configuration.port)),
            onServerRunning: { channel in
                await keepAccepting(channel)
                if let address = channel.localAddress { await listening(address) }
            },
            eventLoopGroupProvider: .shared(group), logger: logger)
        do {
            try await withThrowingTaskGroup { tasks in
                tasks.addTask { [tokens] in await tokens.run() }
                defer { tasks.cancelAll() }
                try await application.run()
            }
        } catch let error as IOError {
            throw ListenError(.admin, host: configuration.host, port: configuration.port, cause: error)
        } catch let error as SocketAddressError {
            throw ListenError(.admin, host: configuration.host, port: configuration.port, cause: error)
        }
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
