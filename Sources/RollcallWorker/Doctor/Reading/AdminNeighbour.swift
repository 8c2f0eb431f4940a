// Whose admin port it is that is taken: a worker's gives everybody its live page. No token is shown to what may be
// somebody else's.

import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOSSL

/// What answers at an admin port.
struct AdminNeighbour {
    private static let patience = TimeAmount.seconds(1)
    /// A page is not endless.
    private static let mostBytes = 1 << 16

    let host: String
    let port: Int
    /// Whether our own would speak TLS there, and so most likely this one does.
    let isEncrypted: Bool

    /// Whether it is a worker.
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

    /// A page for everybody is asked for, and nothing is shown: who vouches for the server does not matter. One that asks
    /// for certificates is not recognised.
    private var configuration: HTTPClient.Configuration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.certificateVerification = .none
        var configuration = HTTPClient.Configuration()
        configuration.tlsConfiguration = tls
        return configuration
    }

    private var scheme: String { isEncrypted ? "https" : "http" }

    /// An address that stands for all of a machine's is asked at this machine.
    private var url: String {
        switch host {
        case "0.0.0.0": "\(scheme)://127.0.0.1:\(port)/live"
        case "::": "\(scheme)://[::1]:\(port)/live"
        case let host: "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)/live"
        }
    }
}
