// A `redis-server` that accepts TLS on a second port; tests inspect it on the first.

internal import Foundation

/// A private Redis server with TLS.
public final class SecureRedis: Sendable {
    /// The same server without TLS.
    public let redis: RedisServer
    /// The port for TLS.
    public let port: Int

    /// - Parameters:
    ///   - pair: the server's certificate and key.
    ///   - certificates: the authority that the server trusts.
    ///   - asksWhoComes: whether clients must present a certificate.
    public init(_ pair: TestCertificates.Pair, of certificates: TestCertificates, asksWhoComes: Bool = false)
        async throws
    {
        let options = [
            "--tls-cert-file", pair.certificate.path, "--tls-key-file", pair.key.path,
            "--tls-ca-cert-file", certificates.authority.path, "--tls-auth-clients", asksWhoComes ? "yes" : "no",
        ]
        // Another process may take a free port before it is used.
        for _ in 0..<3 {
            let port = try freePort()
            guard let redis = try? await RedisServer(options: options + ["--tls-port", "\(port)"]) else { continue }
            (self.port, self.redis) = (port, redis)
            return
        }
        port = try freePort()
        redis = try await RedisServer(options: options + ["--tls-port", "\(port)"])
    }

    /// The URL for a user with only the permissions of a worker.
    public var url: String { "rediss://rollcall:a-password@127.0.0.1:\(port)" }
}
