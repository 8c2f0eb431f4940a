// A `redis-server` that speaks TLS on a port besides the one on which tests look at it.

internal import Foundation

/// A Redis under TLS, of a test's own.
public final class SecureRedis: Sendable {
    /// The same server, in the clear.
    public let redis: RedisServer
    /// Where it speaks TLS.
    public let port: Int

    /// - Parameters:
    ///   - pair: what it shows of itself.
    ///   - certificates: whom it trusts.
    ///   - asksWhoComes: whether it lets in those only who show a certificate too.
    public init(_ pair: TestCertificates.Pair, of certificates: TestCertificates, asksWhoComes: Bool = false)
        async throws
    {
        let options = [
            "--tls-cert-file", pair.certificate.path, "--tls-key-file", pair.key.path,
            "--tls-ca-cert-file", certificates.authority.path, "--tls-auth-clients", asksWhoComes ? "yes" : "no",
        ]
        // As everywhere, a free port may be taken before it is used.
        for _ in 0..<3 {
            let port = try freePort()
            guard let redis = try? await RedisServer(options: options + ["--tls-port", "\(port)"]) else { continue }
            (self.port, self.redis) = (port, redis)
            return
        }
        port = try freePort()
        redis = try await RedisServer(options: options + ["--tls-port", "\(port)"])
    }

    /// For whoever does what a worker does, and nothing else.
    public var url: String { "rediss://rollcall:a-password@127.0.0.1:\(port)" }
}
