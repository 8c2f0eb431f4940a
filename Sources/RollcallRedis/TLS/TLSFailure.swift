// Why a TLS handshake failed. The library's errors are for its developers; an operator needs to know whose mistake it
// is and what to change.

import NIOSSL

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The reason of a failure, and what to do about it.
public struct TLSFailure: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Reason: Hashable, Sendable {
        case unknownAuthority
        case expired
        case notYetValid
        case wrongName
        /// The server does not speak TLS.
        case noTLS
        /// The server does not answer.
        case silence
        /// The server closed the connection.
        case ended
        /// The server requires a client certificate.
        case certificateWanted
        /// The server rejects the client certificate.
        case certificateRefused
        case other(String)
    }

    public let reason: Reason

    public init(_ reason: Reason) {
        self.reason = reason
    }

    /// - Parameter certificate: the server's certificate, if it was received.
    init(_ error: any Error, certificate: NIOSSLCertificate? = nil) {
        self.init(Self.reason(for: error, certificate))
    }

    private static func reason(for error: any Error, _ certificate: NIOSSLCertificate?) -> Reason {
        if let error = error as? NIOSSLExtraError, error == .failedToValidateHostname { return .wrongName }
        let text = "\(error)"
        if text.contains("CERTIFICATE_VERIFY_FAILED") { return certificate.map(distrust) ?? .unknownAuthority }
        if text.contains("CERTIFICATE_REQUIRED") { return .certificateWanted }
        let refusals = ["ALERT_UNKNOWN_CA", "BAD_CERTIFICATE", "CERTIFICATE_EXPIRED", "CERTIFICATE_UNKNOWN"]
        if refusals.contains(where: text.contains) { return .certificateRefused }
        if text.contains("WRONG_VERSION_NUMBER") { return .noTLS }
        if text.contains("EOF during handshake") { return .ended }
        return .other(text)
    }

    /// A certificate that cannot be verified has expired, is not valid yet, or was issued by an authority that is not
    /// trusted.
    private static func distrust(_ certificate: NIOSSLCertificate) -> Reason {
        let now = Date().timeIntervalSince1970
        if now > Double(certificate.notValidAfter) { return .expired }
        return now < Double(certificate.notValidBefore) ? .notYetValid : .unknownAuthority
    }

    /// What is wrong.
    public var description: String {
        switch reason {
        case .unknownAuthority: "nobody whom we trust vouches for its certificate"
        case .expired: "its certificate has expired"
        case .notYetValid: "the time of its certificate has not begun"
        case .wrongName: "its certificate is in order, and names another server"
        case .noTLS: "what answers there does not speak TLS"
        case .silence: "nothing answers there in TLS"
        case .ended: "what answers there hung up before TLS stood"
        case .certificateWanted: "it asks for a certificate of ours"
        case .certificateRefused: "it does not take our certificate"
        case .other(let text): "TLS failed: \(text)"
        }
    }

    /// What to do about it.
    public var advice: String {
        switch reason {
        case .unknownAuthority: "set redis.authority to the certificates (PEM) of the authority that issued it"
        case .expired: "renew it, there where Redis is"
        case .notYetValid: "is the clock of this host right, and that of who issued it?"
        case .wrongName: "set redis.server_name to a name that it has, or issue one for the host in redis.url"
        case .noTLS: "for a Redis without TLS, redis.url begins with redis://"
        case .silence, .ended: "it stalls, starts, has as many clients as it takes (maxclients), or has no TLS there"
        case .certificateWanted: "set redis.certificate and redis.private_key"
        case .certificateRefused: "redis.certificate must be in its time, of an authority in Redis's tls-ca-cert-file"
        case .other: "see the log of Redis"
        }
    }
}
