// What TLS to Redis is made of, as files have it: whom we trust, and what we show of ourselves.

import NIOCore
import NIOSSL
import RollcallRedis

/// Certificates and a key, all PEM, that were read.
struct RedisTrust: Hashable, Sendable {
    /// Whom we trust; `nil` for whom the system does.
    var authority: [UInt8]?
    /// What we show, and the key that goes with it.
    var certificate: [UInt8]?
    var privateKey: [UInt8]?

    /// - Throws: ``UnusableFile``, naming the one that is at fault.
    func context() throws(UnusableFile) -> NIOSSLContext {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.shutdownTimeout = .seconds(1)
        if let authority {
            tls.trustRoots = .certificates(try Self.certificates(in: authority, "redis.authority"))
        }
        if let certificate, let privateKey {
            tls.certificateChain = try Self.certificates(in: certificate, "redis.certificate").map { .certificate($0) }
            tls.privateKey = .privateKey(try Self.key(in: privateKey))
        }
        do {
            return try NIOSSLContext(configuration: tls)
        } catch {
            guard certificate != nil else {
                throw UnusableFile(
                    "redis.authority", "this system trusts nobody: install ca-certificates, or set redis.authority")
            }
            throw UnusableFile(
                "redis.private_key", "the key is not that of the first certificate in redis.certificate")
        }
    }

    private static func certificates(in pem: [UInt8], _ key: String) throws(UnusableFile) -> [NIOSSLCertificate] {
        guard let certificates = try? NIOSSLCertificate.fromPEMBytes(pem), !certificates.isEmpty else {
            throw UnusableFile(key, "the file has no certificate in PEM form")
        }
        return certificates
    }

    private static func key(in pem: [UInt8]) throws(UnusableFile) -> NIOSSLPrivateKey {
        guard let key = try? NIOSSLPrivateKey(bytes: pem, format: .pem) else {
            throw UnusableFile(
                "redis.private_key", "the file has no private key in PEM form, or one with a passphrase")
        }
        return key
    }
}

/// Why a file that the configuration names is of no use.
struct UnusableFile: Error, Hashable {
    let key: String
    let reason: String

    init(_ key: String, _ reason: String) {
        (self.key, self.reason) = (key, reason)
    }
}
