// A port's certificate chain and private key (PEM). They are read and validated together with the CA for client
// certificates, if the port requires these.

import NIOCore
package import NIOSSL
package import RollcallShards

/// The TLS files of a port.
package struct CertificateFiles: Sendable {
    /// The prefix of the port's settings.
    package enum Port: String, Sendable {
        case edge, admin
    }

    package let port: Port
    package let certificate: String
    package let privateKey: String
    /// The CA for client certificates; `nil` if clients need none.
    package var clientAuthority: String?

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
    package var certificate: String { "\(rawValue).certificate" }
    package var privateKey: String { "\(rawValue).private_key" }
    package var clientAuthority: String { "\(rawValue).client_authority" }
}

extension WorkerConfiguration {
    /// Returns the TLS files of a port; `nil` without TLS.
    package func certificateFiles(_ port: CertificateFiles.Port) -> CertificateFiles? {
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
package struct ServerCertificate: Sendable {
    /// The contents of the files.
    package struct Contents: Hashable, Sendable {
        package var chain: [UInt8]
        package var key: [UInt8]
        package var clientAuthority: [UInt8]?

        package init(chain: [UInt8], key: [UInt8], clientAuthority: [UInt8]?) {
            (self.chain, self.key, self.clientAuthority) = (chain, key, clientAuthority)
        }

        /// - Returns: `nil` if the certificate or the key is missing.
        package init?(chain: [UInt8]?, key: [UInt8]?, clientAuthority: [UInt8]? = nil) {
            guard let chain, let key else { return nil }
            self.init(chain: chain, key: key, clientAuthority: clientAuthority)
        }
    }

    package let context: NIOSSLContext
    /// When the certificate expires, in seconds since 1970.
    package let expires: Double

    /// - Throws: ``UnusableFile``, naming the setting of the invalid file.
    package init(_ contents: Contents, of port: CertificateFiles.Port) throws(UnusableFile) {
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
                port.privateKey, "the key does not match the first certificate in \(port.certificate)")
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
        // TLS 1.2 only with suites that have forward secrecy and authenticated encryption (RFC 9325 §4.2). All suites
        // of TLS 1.3 do.
        tls.cipherSuiteValues = [
            .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
            .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
            .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
        ]
        tls.applicationProtocols = ["http/1.1"]
        // How long a peer may take to answer the end of the stream.
        tls.shutdownTimeout = .seconds(1)
        if let authority {
            tls.trustRoots = .certificates(authority)
            // Clients have no host name to compare. A client without a certificate is refused.
            tls.certificateVerification = .noHostnameVerification
            tls.sendCANameList = true
        }
        return tls
    }
}
