// What the edge shows of itself under TLS: a certificate chain and its private key, both PEM, read and checked together.

import NIOCore
import NIOSSL

/// A certificate with its key, ready to serve.
struct EdgeCertificate: Sendable {
    let context: NIOSSLContext
    /// The end of the certificate's life, in seconds since 1970.
    let expires: Double

    /// - Throws: ``UnusableCertificate``, naming the one of the two that is at fault.
    init(chain: [UInt8], key: [UInt8]) throws(UnusableCertificate) {
        guard let certificates = try? NIOSSLCertificate.fromPEMBytes(chain), let first = certificates.first else {
            throw UnusableCertificate(.certificate, "the file has no certificate in PEM form")
        }
        guard let key = try? NIOSSLPrivateKey(bytes: key, format: .pem) else {
            throw UnusableCertificate(.privateKey, "the file has no private key in PEM form, or one with a passphrase")
        }
        do {
            context = try NIOSSLContext(configuration: Self.configuration(certificates, key))
        } catch {
            throw UnusableCertificate(.privateKey, "the key is not that of the first certificate in edge.certificate")
        }
        expires = Double(first.notValidAfter)
    }

    private static func configuration(_ chain: [NIOSSLCertificate], _ key: NIOSSLPrivateKey) -> TLSConfiguration {
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        tls.minimumTLSVersion = .tlsv12
        tls.applicationProtocols = ["http/1.1"]
        // How long a peer has to answer the end of the stream with its own.
        tls.shutdownTimeout = .seconds(1)
        return tls
    }
}

/// Why a certificate and a key cannot serve.
struct UnusableCertificate: Error, Hashable {
    enum Part: String {
        case certificate = "edge.certificate"
        case privateKey = "edge.private_key"
    }

    let part: Part
    let reason: String

    init(_ part: Part, _ reason: String) {
        self.part = part
        self.reason = reason
    }
}
