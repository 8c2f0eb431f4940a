// The admin port: HTTP for servers and operators, beside the edge and apart from it, so that it can be kept from the
// world.

import Hummingbird
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Serves the admin port until it is told to stop.
struct AdminServer: Service {
    private let configuration: WorkerConfiguration.Admin
    private let responder: AdminResponder
    private let group: any EventLoopGroup
    private let logger: Logger
    private let listening: @Sendable (SocketAddress) async -> Void

    private static let silent = Logger(label: "rollcall.admin") { _ in SwiftLogNoOpLogHandler() }

    /// How long a connection may say nothing.
    private static let idle = TimeAmount.seconds(60)

    /// How many connections stand at once; more wait in the kernel.
    static let mostConnections = 128

    /// How long a stop waits for requests that are under way.
    private static let farewell = Duration.seconds(2)

    /// - Parameter listening: told once where the port is, with the number that was picked if the configuration names
    ///   none; nothing is accepted before it returns.
    init(
        _ configuration: WorkerConfiguration.Admin, node: any OperatorAccess, group: any EventLoopGroup, logger: Logger,
        metrics: PrometheusMetrics? = nil, events: EventRing = EventRing(),
        listening: @escaping @Sendable (SocketAddress) async -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.group = group
        self.listening = listening
        responder = AdminResponder(
            node: node, token: configuration.token,
            audit: AdminAudit(token: configuration.token, logger: logger.unkept),
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
                configuration: .init(additionalChannelHandlers: [BadHTTPHandler.Entry()], idleTimeout: Self.idle)),
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.host, port: configuration.port),
                availableConnectionsDelegate: .maximum(Self.mostConnections, logger: Self.silent)),
            onServerRunning: { channel in
                if let address = channel.localAddress { await listening(address) }
            },
            eventLoopGroupProvider: .shared(group), logger: logger)
        do {
            try await application.run()
        } catch let error as IOError {
            throw ListenError(.admin, host: configuration.host, port: configuration.port, cause: error)
        } catch let error as SocketAddressError {
            throw ListenError(.admin, host: configuration.host, port: configuration.port, cause: error)
        }
    }
}
