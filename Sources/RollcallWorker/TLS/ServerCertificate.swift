// What a port shows of itself under TLS: a certificate chain and its private key, both PEM, read and checked together with
// the authority of its clients' certificates, where it asks for these.

import NIOCore
import NIOSSL

/// The files with which a port speaks TLS.
struct CertificateFiles: Sendable {
    /// How the port's settings begin.
    enum Port: String {
        case edge, admin
    }

    let port: Port
    let certificate: String
    let privateKey: String
    /// Whose certificates clients must show; `nil` where they need none.
    var clientAuthority: String?

    var paths: [String] { [certificate, privateKey] + (clientAuthority.map { [$0] } ?? []) }

    func read() throws(UnusableFile) -> ServerCertificate.Contents {
        ServerCertificate.Contents(
            chain: try Self.read(certificate, port.certificate), key: try Self.read(privateKey, port.privateKey),
            clientAuthority: try clientAuthority.map { path throws(UnusableFile) in
                try Self.read(path, port.clientAuthority)
            })
    }

    private static func read(_ path: String, _ setting: String) throws(UnusableFile) -> [UInt8] {
        do {
            return try FileContents.read(path)
        } catch {
            throw UnusableFile(setting, error.reason)
        }
    }
}

extension CertificateFiles.Port {
    var certificate: String { "\(rawValue).certificate" }
    var privateKey: String { "\(rawValue).private_key" }
    var clientAuthority: String { "\(rawValue).client_authority" }
}

extension WorkerConfiguration {
    /// The files of a port's TLS; `nil` if it speaks without.
    func certificateFiles(_ port: CertificateFiles.Port) -> CertificateFiles? {
        let (certificate, key) =
            switch port {
            case .edge: (edge.certificate, edge.privateKey)
            case .admin: (admin.certificate, admin.privateKey)
            }
        guard let certificate, let key else { return nil }
        return CertificateFiles(
            port: port, certificate: certificate, privateKey: key,
            clientAuthority: port == .admin ? admin.clientAuthority : nil)
    }
}

/// A certificate with its key, ready to serve.
struct ServerCertificate: Sendable {
    /// What the files held.
    struct Contents: Hashable, Sendable {
        var chain: [UInt8]
        var key: [UInt8]
        var clientAuthority: [UInt8]?

        init(chain: [UInt8], key: [UInt8], clientAuthority: [UInt8]?) {
            (self.chain, self.key, self.clientAuthority) = (chain, key, clientAuthority)
        }

        /// - Returns: `nil` if one of the two that TLS needs is not there.
        init?(chain: [UInt8]?, key: [UInt8]?, clientAuthority: [UInt8]? = nil) {
            guard let chain, let key else { return nil }
            self.init(chain: chain, key: key, clientAuthority: clientAuthority)
        }
    }

    let context: NIOSSLContext
    /// The end of the certificate's life, in seconds since 1970.
    let expires: Double

    /// - Throws: ``UnusableFile``, naming the setting of the file that is at fault.
    init(_ contents: Contents, of port: CertificateFiles.Port) throws(UnusableFile) {
        let chain = try Self.certificates(in: contents.chain, port.certificate)
        guard let key = try? NIOSSLPrivateKey(bytes: contents.key, format: .pem) else {
            throw UnusableFile(
                port.privateKey, "the file has no private key in PEM form, or one with a passphrase")
        }
        let authority = try contents.clientAuthority.map { pem throws(UnusableFile) in
            try Self.certificates(in: pem, port.clientAuthority)
        }
        do {
            context = try NIOSSLContext(configuration: Self.configuration(chain, key, clientsOf: authority))
        } catch {
            throw UnusableFile(
                port.privateKey, "the key is not that of the first certificate in \(port.certificate)")
        }
        expires = Double(chain[0].notValidAfter)
    }

    private static func certificates(in pem: [UInt8], _ setting: String) throws(UnusableFile) -> [NIOSSLCertificate] {
        guard let certificates = try? NIOSSLCertificate.fromPEMBytes(pem), !certificates.isEmpty else {
            throw UnusableFile(setting, "the file has no certificate in PEM form")
        }
        return certificates
    }

    private static func configuration(
        _ chain: [NIOSSLCertificate], _ key: NIOSSLPrivateKey, clientsOf authority: [NIOSSLCertificate]?
    ) -> TLSConfiguration {
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        tls.minimumTLSVersion = .tlsv12
        // Of TLS 1.2 only suites with forward secrecy and authenticated encryption (RFC 9325 §4.2). All of TLS 1.3 have both.
        tls.cipherSuiteValues = [
            .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
            .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
            .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
        ]
        tls.applicationProtocols = ["http/1.1"]
        // How long a peer has to answer the end of the stream with its own.
        tls.shutdownTimeout = .seconds(1)
        if let authority {
            tls.trustRoots = .certificates(authority)
            // A client has no host name that could be compared; without a certificate it is refused.
            tls.certificateVerification = .noHostnameVerification
            tls.sendCANameList = true
        }
        return tls
    }
}
