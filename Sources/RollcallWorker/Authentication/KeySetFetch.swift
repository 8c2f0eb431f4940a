// One question to the issuer for its keys. What answers is somebody else's server: it may be slow, endless or broken,
// and none of that is to be felt here.

import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOSSL

/// Fetches a key set from a URL.
struct KeySetFetch: Sendable {
    let url: String
    /// A file with the certificates of who vouches for the server, if the system does not know them.
    var authority: String?
    /// How long the whole answer may take.
    var deadline = Duration.seconds(3)

    /// - Throws: if there is no answer in time, or another than a text of an ordinary size. A redirection is not
    ///   followed: the keys are to come from where the configuration says.
    func contents() async throws -> [UInt8] {
        // A client for each question, which comes minutes after the last: there is none to look after in between.
        try await HTTPClient.withHTTPClient(configuration: configuration) { client in
            try await answer(of: client, within: deadline)
        }
    }

    private func answer(of client: HTTPClient, within limit: Duration) async throws -> [UInt8] {
        try await withThrowingTaskGroup { tasks in
            tasks.addTask { try await answer(of: client) }
            // The client's own deadline ends with the head of the answer, and a drop now and then is progress to it.
            tasks.addTask {
                try await Task.sleep(for: limit)
                throw Unexpected(description: "there was no whole answer within \(limit)")
            }
            defer { tasks.cancelAll() }
            return try await tasks.next() ?? []
        }
    }

    private func answer(of client: HTTPClient) async throws -> [UInt8] {
        var request = HTTPClientRequest(url: url)
        request.headers.add(name: "accept", value: "application/jwk-set+json, application/json")
        let response = try await client.execute(request, timeout: TimeAmount(deadline))
        guard response.status == .ok else { throw Unexpected(description: "the answer is \(response.status)") }
        return Array(try await response.body.collect(upTo: FileContents.mostBytes).readableBytesView)
    }

    private var configuration: HTTPClient.Configuration {
        // The deadline is for all of it: an issuer may use it up before its first byte.
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
