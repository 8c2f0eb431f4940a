// A worker: a node, the edge that devices connect to, and the admin port. They start in this order and stop in reverse.

internal import Foundation
internal import Logging
internal import Metrics
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOPosix
internal import RollcallProtocol
@_exported public import RollcallServer
public import ServiceLifecycle

/// A worker that serves until its service group shuts down.
///
/// On graceful shutdown the worker drains: it stops accepting, moves its devices to other workers within
/// `worker.drain`, and ends its lease. Devices that reconnect in time never appear offline.
public struct Worker: Service {
    /// The addresses of a ready worker.
    public struct Ready: Sendable, CustomStringConvertible {
        public let incarnation: String
        public let edge: String
        public let admin: String

        /// The line that reports readiness to the process that started the worker.
        public var description: String { "ready worker=\(incarnation) edge=\(edge) admin=\(admin)" }
    }

    private let configuration: WorkerConfiguration
    private let logger: Logger
    private let metrics: PrometheusMetrics?
    private let events = EventRing()
    private let onReady: @Sendable (Ready) -> Void
    private let onDrain: @Sendable () -> Void

    /// - Parameters:
    ///   - metrics: The metrics for `GET /metrics`. If `nil`, the worker reports to the process's metrics system.
    ///   - onReady: Called once, when devices can connect.
    ///   - onDrain: Called once, when a ready worker begins to drain.
    public init(
        _ configuration: WorkerConfiguration, metrics: PrometheusMetrics? = nil,
        onReady: @escaping @Sendable (Ready) -> Void, onDrain: @escaping @Sendable () -> Void = {}
    ) {
        self.configuration = configuration
        self.metrics = metrics
        self.onReady = onReady
        self.onDrain = onDrain
        logger = Logger(label: "rollcall.worker").kept(in: events)
    }

    /// Serves until shutdown.
    ///
    /// - Throws: ``CannotServe`` if a port is taken or Redis does not answer at startup; ``ConfigurationProblems``.
    public func run() async throws {
        OpenFileLimit.raise()
        warnOfSecrets()
        logger.info(
            "who may join and ask",
            metadata: ["rules": "\(HostChecks(configuration: configuration, wrong: [], file: nil).rules.found)"])
        var auth = configuration.auth
        auth.maxLifetime = auth.maxLifetime ?? configuration.presence.retention
        let authenticator = try Authenticator(
            auth, logger: Authenticator.logger.kept(in: events), metrics: metrics ?? MetricsSystem.factory)
        let edgeCertificate = try certificate(of: .edge)
        let adminCertificate = try certificate(of: .admin)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: configuration.worker.loops)
        do {
            let node = try await Node(
                NodeSettings(configuration), authenticator: authenticator, group: group, logger: logger,
                metrics: metrics ?? MetricsSystem.factory)
            let access = try await access(node, on: group)
            try await withThrowingTaskGroup { tasks in
                tasks.addTask { await authenticator.run() }
                tasks.addTask { await edgeCertificate?.run() }
                tasks.addTask { await adminCertificate?.run() }
                tasks.addTask { await tellAges(of: [("edge", edgeCertificate), ("admin", adminCertificate)]) }
                defer { tasks.cancelAll() }
                try await serve(node, edge: edgeCertificate, admin: adminCertificate, access: access, group: group)
            }
        } catch {
            try? await group.shutdownGracefully()
            throw Self.explained(error)
        }
        try await group.shutdownGracefully()
    }

    private func warnOfSecrets() {
        let findings = HostChecks(configuration: configuration, wrong: [], file: nil).files
        for finding in findings where finding.verdict == .warning {
            logger.warning(
                "a secret is at risk", metadata: ["reason": "\(finding.found)", "advice": "\(finding.advice ?? "")"])
        }
    }

    private func tellAges(of certificates: [(port: String, keeper: CertificateKeeper?)]) async {
        let factory: any MetricsFactory = metrics ?? MetricsSystem.factory
        let gauges = certificates.compactMap { port, keeper in
            keeper.map { keeper in
                let labels = [("port", port)]
                return (
                    keeper, factory.makeMeter(label: Metric.certificateExpires.rawValue, dimensions: labels),
                    factory.makeMeter(label: Metric.certificateLife.rawValue, dimensions: labels)
                )
            }
        }
        while !gauges.isEmpty, !Task.isCancelled {
            for (keeper, expires, life) in gauges {
                expires.set(keeper.value.expires - Date.now.timeIntervalSince1970)
                life.set(keeper.value.life)
            }
            try? await Task.sleep(for: .seconds(10))
        }
    }

    /// Whom the node asks who may join; `nil` if nobody.
    private func access(_ node: Node, on group: MultiThreadedEventLoopGroup) async throws -> AccessProvider? {
        guard configuration.access.url != nil else { return nil }
        let provider = AccessProvider(
            configuration.access, node: node, metrics: metrics ?? MetricsSystem.factory, on: group.next(),
            logger: logger)
        try await node.askAccess { provider.ask($0, $1, for: $2) }
        return provider
    }

    /// The certificate of a port; `nil` without TLS.
    private func certificate(of port: CertificateFiles.Port) throws(ConfigurationProblems) -> CertificateKeeper? {
        guard let files = configuration.certificateFiles(port) else { return nil }
        do throws(UnusableFile) {
            return try CertificateKeeper(files, logger: logger)
        } catch {
            throw ConfigurationProblems([ConfigurationProblem(.unusableFile, error.key, error.reason)])
        }
    }

    private func serve(
        _ node: Node, edge edgeCertificate: CertificateKeeper?, admin adminCertificate: CertificateKeeper?,
        access: AccessProvider?, group: MultiThreadedEventLoopGroup
    ) async throws {
        var settings = EdgeSettings(configuration)
        settings.tls = edgeCertificate
        let edge = EdgeServer(settings, node: node, group: group, logger: logger)
        do {
            try await serveUntilShutdown(node, edge, adminCertificate, access, group: group)
        } catch {
            // The admin port was taken. End the lease, and move devices that have connected to other workers.
            if node.holdsLease {
                await edge.stopAccepting()
                try? await node.drain()
            }
            await edge.stop()
            try? await node.stop()
            // Shutdown was requested before the worker was ready: nothing to drain, and not an error.
            if error is CancellationError, Task.isShuttingDownGracefully { return }
            throw error
        }
        await edge.stop()
        try await node.stop()
    }

    /// Opens both ports first, so that a wrong port is reported before anything is written to Redis, and probes are answered while
    /// Redis is not there yet. Then acquires the lease; devices that connect before are accepted, and recorded once it is held.
    private func serveUntilShutdown(
        _ node: Node, _ edge: EdgeServer, _ certificate: CertificateKeeper?, _ access: AccessProvider?,
        group: MultiThreadedEventLoopGroup
    ) async throws {
        let edgeURL = Self.url(
            configuration.edge.certificate == nil ? "ws" : "wss", configuration.edge.host, try await edge.start(),
            "/v1/connect")
        let (bound, opened) = AsyncStream.makeStream(of: SocketAddress.self)
        let admin = AdminServer(
            configuration.admin, node: node, group: group, logger: logger, metrics: metrics, events: events,
            access: access, certificate: certificate
        ) { opened.yield($0) }
        // What runs from the first lease on.
        let delivery = NIOLockedValueBox<Task<Void, Never>?>(nil)
        defer { delivery.withLockedValue { $0?.cancel() } }
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            defer { tasks.cancelAll() }
            tasks.addTask {
                try await admin.run {
                    node.leave()
                    guard let delivery = delivery.withLockedValue({ $0 }) else { return }
                    try await drain(node, edge, delivery)
                }
            }
            tasks.addTask {
                guard let address = await bound.first(where: { _ in true }) else { return }
                try await node.start(
                    edge: configuration.edge.publicURL ?? edgeURL, host: ProcessInfo.processInfo.hostName
                ) { edge.connections }
                delivery.withLockedValue { $0 = Task { await deliver(node) } }
                onReady(
                    Ready(
                        incarnation: node.incarnation?.name.string ?? configuration.worker.id, edge: edgeURL,
                        admin: Self.url(certificate == nil ? "http" : "https", configuration.admin.host, address)))
            }
            // The first error ends the other task.
            while try await tasks.next() != nil {}
        }
    }

    private static func url(_ scheme: String, _ host: String, _ address: SocketAddress, _ path: String = "") -> String {
        "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(address.port ?? 0)\(path)"
    }

    private func deliver(_ node: Node) async {
        guard configuration.events.enabled else { return }
        await EventDelivery(configuration, node: node, metrics: metrics ?? MetricsSystem.factory, logger: logger).run()
    }

    private func drain(_ node: Node, _ edge: EdgeServer, _ delivery: Task<Void, Never>) async throws {
        onDrain()
        logger.info("draining", metadata: ["sessions": "\(edge.connections)"])
        try? await Task.sleep(for: configuration.worker.drainDelay)
        await edge.stopAccepting()
        delivery.cancel()
        try await node.drain()
        await delivery.value
    }

    /// Converts listen errors to the error that callers handle.
    private static func explained(_ error: any Error) -> any Error {
        switch error {
        case let error as ListenError: CannotServe(description: "\(error)")
        default: error
        }
    }
}
