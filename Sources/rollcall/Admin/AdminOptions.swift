import ArgumentParser
import Foundation
import NIOSSL

/// How an operator's command reaches a worker's admin port.
struct AdminOptions: ParsableArguments {
    static let usual = "http://127.0.0.1:8081"

    @Option(help: "A worker's admin port, as in its ready line. Any worker reports on all.")
    var admin = Self.usual

    @Option(
        help:
            "A file with the token of admin.token_file, or - for standard input. The default is ROLLCALL_OPERATOR_TOKEN.",
        completion: .file())
    var tokenFile: String?

    @Option(
        help:
            "For https, the trusted CA certificates (PEM), instead of the system's.",
        completion: .file())
    var authority: String?

    @Option(
        help:
            "For https, the client certificate chain (PEM), if admin.client_authority requires it; with --private-key.",
        completion: .file())
    var certificate: String?

    @Option(help: "The private key (PEM) of --certificate.", completion: .file())
    var privateKey: String?

    func validate() throws {
        guard (certificate == nil) == (privateKey == nil) else {
            throw ValidationError("--certificate and --private-key must be given together")
        }
        guard let address = AdminAddress(admin) else {
            throw ValidationError("--admin \(admin) is not an address such as http://127.0.0.1:8081")
        }
        let option = authority != nil ? "--authority" : certificate != nil ? "--certificate" : nil
        if let option, !address.isSecure {
            throw ValidationError("\(option) needs an https:// address, but --admin is \(address)")
        }
    }

    /// Returns the port to send requests to.
    func port() throws -> AdminPort {
        guard let address = AdminAddress(admin) else { throw ValidationError("--admin \(admin) is not an address") }
        return AdminPort(
            address: address, token: try TokenInput.token(file: tokenFile, variable: "ROLLCALL_OPERATOR_TOKEN"),
            tls: try address.isSecure ? context() : nil)
    }

    private func context() throws -> NIOSSLContext {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if let authority { tls.trustRoots = .file(authority) }
        if let certificate, let privateKey {
            guard let chain = try? NIOSSLCertificate.fromPEMFile(certificate), !chain.isEmpty else {
                throw ValidationError("--certificate \(certificate) has no certificate (PEM)")
            }
            guard let key = try? NIOSSLPrivateKey(file: privateKey, format: .pem) else {
                throw ValidationError("--private-key \(privateKey) has no private key (PEM), or one with a passphrase")
            }
            (tls.certificateChain, tls.privateKey) = (chain.map { .certificate($0) }, .privateKey(key))
        }
        do {
            return try NIOSSLContext(configuration: tls)
        } catch {
            if let authority, (try? NIOSSLCertificate.fromPEMFile(authority))?.isEmpty != false {
                throw ValidationError("--authority \(authority) has no certificate (PEM)")
            }
            guard let privateKey else { throw ValidationError("TLS cannot be set up: \(error)") }
            throw ValidationError(
                "--private-key \(privateKey) does not match the first certificate in --certificate")
        }
    }
}

/// The address of an admin port: `http://HOST:PORT`, or `https` if it, or a proxy in front of it, terminates TLS.
struct AdminAddress: CustomStringConvertible {
    let host: String
    let port: Int
    let isSecure: Bool

    init?(_ url: String) {
        guard let parts = URLComponents(string: url), let scheme = parts.scheme, ["http", "https"].contains(scheme),
            let host = parts.host, !host.isEmpty,
            ["", "/"].contains(parts.path)
        else { return nil }
        // An IPv6 address is in brackets in a URL, and without them for a connection.
        self.host = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        isSecure = scheme == "https"
        port = parts.port ?? (isSecure ? 443 : 80)
    }

    /// The value of the `Host` header.
    var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    var description: String { "\(isSecure ? "https" : "http")://\(authority)" }
}
