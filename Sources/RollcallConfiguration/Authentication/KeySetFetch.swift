// Fetches the issuer's key set once. The issuer's server is outside our control: it may be slow, endless or broken, and
// must not affect the worker.

import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOSSL
import RollcallShards

/// Fetches a key set from a URL.
struct KeySetFetch: Sendable {
    let url: String
    /// A file with CA certificates for the server, if the system does not trust its CA.
    var authority: String?
    /// The time limit for the whole response.
    var deadline = Duration.seconds(3)

    /// - Throws: If there is no complete response in time, its status is not 200, or it is too large. Redirects are not
    ///   followed, so keys come only from the configured URL.
    func contents() async throws -> [UInt8] {
        // One client per fetch. Fetches are minutes apart, so there is no idle client to maintain.
        try await HTTPClient.withHTTPClient(configuration: configuration) { client in
            try await answer(of: client, within: deadline)
        }
    }

    private func answer(of client: HTTPClient, within limit: Duration) async throws -> [UInt8] {
        try await withThrowingTaskGroup { tasks in
            tasks.addTask { try await answer(of: client) }
            // The client's own deadline covers only the response head, and it treats slow trickles as progress.
            tasks.addTask {
                try await Task.sleep(for: limit)
                throw Unexpected(description: "there was no complete response within \(limit)")
            }
            defer { tasks.cancelAll() }
            return try await tasks.next() ?? []
        }
    }

    private func answer(of client: HTTPClient) async throws -> [UInt8] {
        var request = HTTPClientRequest(url: url)
        request.headers.add(name: "accept", value: "application/jwk-set+json, application/json")
        let response = try await client.execute(request, timeout: TimeAmount(deadline))
        guard response.status == .ok else { throw Unexpected(description: "the response is \(response.status)") }
        return Array(try await response.body.collect(upTo: FileContents.mostBytes).readableBytesView)
    }

    private var configuration: HTTPClient.Configuration {
        // The deadline covers everything: an issuer may use it up before its first byte.
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: .seconds(2), read: TimeAmount(deadline)))
        configuration.httpVersion = .http1Only
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if let authority { tls.additionalTrustRoots = [.file(authority)] }
        configuration.tlsConfiguration = tls
        return configuration
    }

    private struct Unexpected: Error, CustomStringConvertible {
        let description: String
    }
}
