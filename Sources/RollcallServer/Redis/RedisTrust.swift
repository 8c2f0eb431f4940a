// TLS settings for Redis from files: trusted CAs, and the client certificate.

import NIOCore
package import NIOSSL
import RollcallRedis

/// Certificates and a key in PEM form.
package struct RedisTrust: Hashable, Sendable {
    /// The trusted CAs; `nil` for the system's.
    var authority: [UInt8]?
    /// The client certificate and its key.
    var certificate: [UInt8]?
    var privateKey: [UInt8]?

    package init(authority: [UInt8]? = nil, certificate: [UInt8]? = nil, privateKey: [UInt8]? = nil) {
        (self.authority, self.certificate, self.privateKey) = (authority, certificate, privateKey)
    }

    /// - Throws: ``UnusableFile``, naming the invalid file.
    package func context() throws(UnusableFile) -> NIOSSLContext {
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
                    "redis.authority", "this system trusts no CAs: install ca-certificates, or set redis.authority")
            }
            throw UnusableFile(
                "redis.private_key", "the key does not match the first certificate in redis.certificate")
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

/// Why a file that the configuration names cannot be used.
package struct UnusableFile: Error, Hashable {
    package let key: String
    package let reason: String

    package init(_ key: String, _ reason: String) {
        (self.key, self.reason) = (key, reason)
    }
}
