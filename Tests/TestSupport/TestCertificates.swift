// Certificates for tests. They are checked in, since a machine that builds Rollcall need not have OpenSSL.

public import Foundation

/// An authority and its certificates, copied into a folder that is deleted when the value is released.
public final class TestCertificates: Sendable {
    public struct Pair: Sendable {
        public let certificate: URL
        public let key: URL
    }

    /// Who issued the certificates.
    public enum Authority: String, Sendable {
        case own, foreign
    }

    public let folder: URL
    /// The authority's certificate, which clients must trust.
    public var authority: URL { folder.appending(path: "authority.pem") }
    /// Two pairs for this machine, with the common names `first` and `second`.
    public var first: Pair { pair("first") }
    public var second: Pair { pair("second") }
    /// A pair for another host. Only the own authority has it.
    public var elsewhere: Pair { pair("elsewhere") }
    /// An expired pair for this machine. Only the own authority has it.
    public var expired: Pair { pair("expired") }

    public init(_ authority: Authority = .own) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "rollcall-tls-\(UUID().uuidString.prefix(8))")
        let source = URL(filePath: #filePath).appending(path: "../Certificates/\(authority.rawValue)").standardized
        try FileManager.default.copyItem(at: source, to: folder)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    /// Replaces a certificate and key with others, each file by renaming, as programs do.
    public func replace(_ pair: Pair, with other: Pair) throws {
        for (old, new) in [(pair.certificate, other.certificate), (pair.key, other.key)] {
            let beside = folder.appending(path: UUID().uuidString)
            try FileManager.default.copyItem(at: new, to: beside)
            guard rename(beside.path, old.path) == 0 else { throw POSIXError(.EIO) }
        }
    }

    private func pair(_ name: String) -> Pair {
        Pair(certificate: folder.appending(path: "\(name).pem"), key: folder.appending(path: "\(name).key"))
    }
}
