// Certificates for tests, created with OpenSSL as operators create theirs.

public import Foundation

/// A private certificate authority and its certificates; deleted when the value is released.
public final class TestCertificates: Sendable {
    public struct Pair: Sendable {
        public let certificate: URL
        public let key: URL
    }

    public let folder: URL
    /// The authority's certificate, which clients must trust.
    public var authority: URL { folder.appending(path: "authority.pem") }

    public init() async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "rollcall-tls-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try await openssl(
            ["req", "-x509", "-days", "2", "-subj", "/CN=Rollcall test authority", "-out", "authority.pem"]
                + newKey("authority.key"))
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    /// Issues a certificate with this common name.
    ///
    /// - Parameters:
    ///   - hosts: the subject alternative names, in OpenSSL's syntax; by default, this machine.
    ///   - days: the validity in days; negative for an expired certificate.
    public func issue(
        _ name: String, for hosts: String = "IP:127.0.0.1,DNS:localhost", days: Int = 1
    ) async throws -> Pair {
        let names = folder.appending(path: "\(name).names")
        try Data("subjectAltName=\(hosts)\n".utf8).write(to: names)
        try await openssl(["req", "-subj", "/CN=\(name)", "-out", "\(name).csr"] + newKey("\(name).key"))
        try await openssl([
            "x509", "-req", "-in", "\(name).csr", "-CA", "authority.pem", "-CAkey", "authority.key", "-CAcreateserial",
            "-days", "\(days)", "-extfile", "\(name).names", "-out", "\(name).pem",
        ])
        return Pair(certificate: folder.appending(path: "\(name).pem"), key: folder.appending(path: "\(name).key"))
    }

    /// Replaces a certificate and key with others, each file by renaming, as programs do.
    public func replace(_ pair: Pair, with other: Pair) throws {
        for (old, new) in [(pair.certificate, other.certificate), (pair.key, other.key)] {
            let beside = folder.appending(path: UUID().uuidString)
            try FileManager.default.copyItem(at: new, to: beside)
            guard rename(beside.path, old.path) == 0 else { throw POSIXError(.EIO) }
        }
    }

    private func newKey(_ file: String) -> [String] {
        ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", file]
    }

    private func openssl(_ arguments: [String]) async throws {
        let child = try ChildProcess(["sh", "-c", #"cd "$0" && exec openssl "$@""#, folder.path] + arguments)
        guard try await child.exitCode() == 0 else { throw Timeout(description: "openssl: \(child.errors)") }
    }
}
