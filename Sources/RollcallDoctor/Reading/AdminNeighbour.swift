// Checks whether a worker uses the configured admin port, by its public live page. No token is sent, since another
// program may listen there.

import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOSSL

/// The server at an admin port.
struct AdminNeighbour {
    private static let patience = TimeAmount.seconds(1)
    /// The limit on the page's size.
    private static let mostBytes = 1 << 16

    let host: String
    let port: Int
    /// Whether the configuration enables TLS on the port; the server there then probably uses it too.
    let isEncrypted: Bool

    /// Whether the server is a worker.
    func isWorker() async -> Bool {
        do {
            return try await HTTPClient.withHTTPClient(configuration: configuration) { client in
                let answer = try await client.execute(HTTPClientRequest(url: url), timeout: Self.patience)
                let page = try await answer.body.collect(upTo: Self.mostBytes)
                return answer.status == .ok && String(buffer: page).contains("<title>Rollcall, live</title>")
            }
        } catch {
            return false
        }
    }

    /// The page is public and nothing secret is sent, so the server's certificate is not verified. A server that
    /// requires client certificates is not recognized.
    private var configuration: HTTPClient.Configuration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.certificateVerification = .none
        var configuration = HTTPClient.Configuration()
        configuration.tlsConfiguration = tls
        return configuration
    }

    private var scheme: String { isEncrypted ? "https" : "http" }

    /// A wildcard address is replaced by loopback.
    private var url: String {
        switch host {
        case "0.0.0.0": "\(scheme)://127.0.0.1:\(port)/live"
        case "::": "\(scheme)://[::1]:\(port)/live"
        case let host: "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)/live"
        }
    }
}
