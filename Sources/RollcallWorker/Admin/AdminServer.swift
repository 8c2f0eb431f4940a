// The admin port: HTTP for servers and operators, beside the edge and apart from it, so that it can be kept from the
// world.

import Hummingbird
import Logging
import Metrics
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Serves the admin port until it is told to stop.
struct AdminServer: Service {
    private let configuration: WorkerConfiguration.Admin
    private let responder: AdminResponder
    private let tokens: AdminTokenKeeper
    private let group: any EventLoopGroup
    private let connections: AdminConnections
    /// With what the port encrypts; `nil` if it does not.
    private let certificate: CertificateKeeper?
    private let logger: Logger
    private let listening: @Sendable (SocketAddress) async -> Void

    private static let silent = Logger(label: "rollcall.admin") { _ in SwiftLogNoOpLogHandler() }

    /// How long a connection may say nothing between two requests.
    private static let idle = TimeAmount.seconds(60)

    /// How long a stop waits for requests that are under way.
    private static let farewell = Duration.seconds(2)

    /// - Parameter listening: told once where the port is, with the number that was picked if the configuration names
    ///   none; nothing is accepted before it returns.
    init(
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
        // What the library calls information is ours to say.
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .notice)
        self.logger = quiet
    }

    /// Listens and answers until the graceful shutdown of its service group, and meanwhile until `last` is done: so those
    /// who watch over a worker see how it stops.
    ///
    /// - Throws: ``ListenError`` if it cannot listen where the configuration says; what `last` throws.
    func run(until last: () async throws -> Void) async throws {
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        // In a group of its own, since whatever runs in that of the worker is told of its shutdown.
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
    /// - Throws: ``ListenError`` if it cannot listen where the configuration says.
    func run() async throws {
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

    /// Lets the listener wait for a free descriptor. The library takes a failure to accept for the listener's end.
    private func keepAccepting(_ listener: any Channel) async {
        try? await listener.eventLoop.submit { [logger] in
            let gate = AcceptGate(onShortage: { logger.outOfFiles($0, port: "admin") })
            try listener.pipeline.syncOperations.addHandler(gate, position: .first)
        }.get()
    }
}
