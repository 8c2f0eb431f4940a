// A port's certificate chain and private key (PEM). They are read and validated together with the CA for client
// certificates, if the port requires these.

package import Logging
import NIOCore
package import NIOSSL

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

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

    fileprivate var files: [(key: String, path: String)] {
        [(port.certificate, certificate), (port.privateKey, privateKey)]
            + (clientAuthority.map { [(port.clientAuthority, $0)] } ?? [])
    }
}

/// The certificate of a port. Certificates are renewed every few weeks, and a restart would disconnect all devices. New
/// connections use the new certificate; open ones continue with the old.
package typealias CertificateKeeper = FollowedFiles<ServerCertificate>

extension FollowedFiles<ServerCertificate> {
    /// Reads the files.
    package convenience init(_ files: CertificateFiles, logger: Logger) throws(UnusableFile) {
        try self.init(
            files.files,
            parse: { contents throws(UnusableFile) in
                try ServerCertificate(
                    ServerCertificate.Contents(
                        chain: contents[0], key: contents[1], clientAuthority: contents.count > 2 ? contents[2] : nil),
                    of: files.port)
            },
            report: { result, _ in
                switch result {
                case .success(let certificate): certificate.tell(logger, files.certificate)
                case .failure(let error):
                    logger.error(
                        "the new certificate cannot be used; the previous one stays in use",
                        metadata: ["key": "\(error.key)", "reason": "\(error.reason)"])
                }
            })
    }

    /// The TLS context for new connections.
    package var context: NIOSSLContext { value.context }
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
    /// For how many seconds it is valid in all.
    package let life: Double
    /// Whether the file has one certificate, and another authority has issued it: then clients may lack what is between.
    package let isAlone: Bool

    /// How long before its end it is to be renewed: two weeks, or a third of a shorter life.
    private var warning: Double { min(14 * 86_400, life / 3) }

    package enum Age { case good, ending, expired }

    package var age: Age {
        let rest = expires - Date.now.timeIntervalSince1970
        return rest < 0 ? .expired : rest < warning ? .ending : .good
    }

    package var end: String { Date(timeIntervalSince1970: expires).formatted(.iso8601) }

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
        life = max(0, expires - Double(chain[0].notValidBefore))
        isAlone = chain.count == 1 && ((try? chain[0].toDERBytes()).map(Self.isSelfIssued) == false)
    }

    /// Whether issuer and subject of a certificate (RFC 5280 §4.1) are the same.
    private static func isSelfIssued(_ der: [UInt8]) -> Bool {
        guard let certificate = elements(of: der[...]).first?.content,
            let signed = elements(of: certificate).first?.content
        else { return false }
        // A version comes first, if there is one; then number, algorithm, issuer, validity, subject.
        let parts = elements(of: signed).drop { $0.tag == 0xA0 }.map(\.content)
        return parts.count > 4 && parts[2] == parts[4]
    }

    /// The elements of ASN.1 in these bytes.
    private static func elements(of bytes: ArraySlice<UInt8>) -> [(tag: UInt8, content: ArraySlice<UInt8>)] {
        var (rest, found): (ArraySlice<UInt8>, [(tag: UInt8, content: ArraySlice<UInt8>)]) = (bytes, [])
        while rest.count >= 2 {
            let (tag, first) = (rest.removeFirst(), rest.removeFirst())
            let more = first < 0x80 ? 0 : Int(first & 0x7F)
            guard more <= 3, rest.count >= more else { break }
            let length = more == 0 ? Int(first) : rest.prefix(more).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(more)
            guard rest.count >= length else { break }
            found.append((tag, rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        return found
    }

    fileprivate func tell(_ logger: Logger, _ file: String) {
        let metadata: Logger.Metadata = ["file": "\(file)", "expires": "\(end)"]
        switch age {
        case .expired: logger.error("the certificate has expired", metadata: metadata)
        case .ending: logger.warning("the certificate expires soon", metadata: metadata)
        case .good: logger.info("certificate in use", metadata: metadata)
        }
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
