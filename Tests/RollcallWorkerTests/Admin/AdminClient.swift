import Foundation
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import ServiceLifecycle
import TestSupport

@testable import RollcallServer
@testable import RollcallWorker

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An HTTP client for an admin port.
struct AdminClient {
    let port: Int
    var token: String?

    struct Answer {
        var status: Int
        var headers: [String: String]
        var body: String
        /// The `code` of a problem, if the answer is a complete one.
        var problem: String?
    }

    func callAsFunction(
        _ method: String, _ path: String, _ body: String? = nil, headers: [String: String] = [:]
    ) async throws -> Answer {
        guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else { throw URLError(.badURL) }
        var request = URLRequest(url: url, timeoutInterval: 20)
        request.httpMethod = method
        request.httpBody = body.map { Data($0.utf8) }
        // By default, the system's HTTP client declares bodies to be forms.
        if body != nil { request.setValue("application/json", forHTTPHeaderField: "Content-Type") }
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let (data, response) = try await URLSession.shared.data(for: request)
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        var fields: [String: String] = [:]
        for (name, value) in response.allHeaderFields { fields["\(name)".lowercased()] = "\(value)" }
        return Answer(
            status: response.statusCode, headers: fields, body: String(decoding: data, as: UTF8.self),
            problem: fields["content-type"] == "application/problem+json"
                ? Self.code(data, status: response.statusCode) : nil)
    }

    private static func code(_ data: Data, status: Int) -> String? {
        struct Problem: Decodable {
            var code: String
            var detail: String
            var status: Int
            var title: String
        }
        guard let problem = try? JSONDecoder().decode(Problem.self, from: data), problem.status == status else {
            return nil
        }
        return problem.detail.isEmpty || problem.title.isEmpty ? nil : problem.code
    }
}

/// Runs an admin port on a free port while `body` runs, and shuts it down in order.
func withAdmin(
    _ node: DictionaryNode = DictionaryNode(), configuration: WorkerConfiguration.Admin = .init(), token: String? = nil,
    events: EventRing = EventRing(), logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
    metrics: PrometheusMetrics? = nil, certificate: CertificateKeeper? = nil,
    _ body: (AdminClient) async throws -> Void
) async throws {
    var configuration = configuration
    configuration.port = 0
    if let token { configuration.token = Secret(token.utf8) }
    let port = NIOLockedValueBox<Int?>(nil)
    let server = AdminServer(
        configuration, node: node, group: .singletonMultiThreadedEventLoopGroup, logger: logger, metrics: metrics,
        events: events, certificate: certificate
    ) {
        let bound = $0.port
        port.withLockedValue { $0 = bound }
    }
    let services = ServiceGroup(services: [server], logger: logger)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await services.run() }
        try await eventually("the admin port listens") { port.withLockedValue { $0 } != nil }
        do {
            try await body(AdminClient(port: port.withLockedValue { $0 } ?? 0, token: token))
        } catch {
            await services.triggerGracefulShutdown()
            throw error
        }
        await services.triggerGracefulShutdown()
        try await group.waitForAll()
    }
}
