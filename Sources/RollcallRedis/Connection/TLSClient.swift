// TLS to Redis: trusted authorities, the client certificate and the expected server name; and why a handshake failed.

public import NIOSSL
import RollcallProtocol

/// The TLS configuration of a connection.
public struct TLSClient: Sendable {
    public let context: NIOSSLContext
    /// The name that the certificate must contain; `nil` for the host being connected to.
    public let serverName: String?

    public init(context: NIOSSLContext, serverName: String? = nil) {
        self.context = context
        self.serverName = serverName
    }

    /// Returns the handler for a channel to this host, whose name the certificate must contain. An IP address cannot be
    /// sent as a server name (SNI); the certificate must then contain the address that the channel is connected to.
    func handler(for host: String) throws -> NIOSSLClientHandler {
        do {
            return try NIOSSLClientHandler(context: context, serverHostname: serverName ?? host)
        } catch let error as NIOSSLExtraError where error == .cannotUseIPAddressInSNI && serverName == nil {
            return try NIOSSLClientHandler(context: context, serverHostname: nil)
        }
    }
}

/// Why a TLS handshake failed, and what to do about it. The library's errors are for its developers; an operator needs
/// to know whose mistake it is and what to change.
public struct TLSFailure: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String
    public let advice: String

    /// - Parameter error: the library's error; `nil` if the connection ended without one.
    package init(_ error: (any Error)?) {
        let text = error.map { "\($0)" } ?? ""
        let row = Self.known.first { row in row.marks.contains { text.utf8.firstRange(of: $0.utf8) != nil } }
        description = row?.description ?? (text.isEmpty ? Self.ended : "TLS failed: \(text)")
        advice = row?.advice ?? "see the log of Redis; for a Redis without TLS, redis.url begins with redis://"
    }

    private static let ended = "the server closed the connection during the TLS handshake"

    /// What the library's errors contain, in the order of looking.
    private static let known: [(marks: [String], description: String, advice: String)] = [
        (
            ["CERTIFICATE_VERIFY_FAILED"], "its certificate is not trusted, or not valid now",
            "set redis.authority to the certificates (PEM) of its issuer, or renew it if it has expired"
        ),
        (
            ["failedToValidateHostname"], "its certificate is valid, but names another server",
            "set redis.server_name to a name in the certificate, or issue one for the host in redis.url"
        ),
        (
            ["CERTIFICATE_REQUIRED"], "it requires a client certificate",
            "set redis.certificate and redis.private_key"
        ),
        (
            ["ALERT_UNKNOWN_CA", "BAD_CERTIFICATE", "CERTIFICATE_EXPIRED", "CERTIFICATE_UNKNOWN"],
            "it rejects our certificate",
            "redis.certificate must be valid now, from an authority in Redis's tls-ca-cert-file"
        ),
        (
            ["WRONG_VERSION_NUMBER"], "the server does not speak TLS",
            "for a Redis without TLS, redis.url begins with redis://"
        ),
        (
            ["EOF during handshake"], ended,
            "it is starting or has reached maxclients, or it has no TLS there: redis.url then begins with redis://"
        ),
    ]
}

// MARK: Connections that end

/// The network's own error is correct, but of little help if two sides speak different protocols, so the likely cause
/// is added.
extension RedisError {
    /// Returns the error for an open connection that ended.
    ///
    /// - Parameter heard: whether any data was received.
    static func ended(_ error: (any Error)?, encrypted: Bool, heard: Bool) -> RedisError {
        var sentence = "the connection to Redis ended" + (error.map { ": \($0)" } ?? "")
        var cause = error
        if encrypted, !heard {
            let failure = TLSFailure(error)
            (sentence, cause) = ("the connection to Redis failed: \(failure) (\(failure.advice))", failure)
        } else if !heard {
            // A TLS server closes the connection of a client that does not speak TLS.
            sentence += ", before anything was said (for a port with TLS, take rediss://)"
        }
        return RedisError(encrypted && !heard ? .connectFailed : .connectionLost, sentence, underlying: cause)
    }

    static func silent(_ command: String?, encrypted: Bool) -> RedisError {
        let hint = encrypted ? " (for a Redis without TLS, redis.url begins with redis://)" : ""
        return RedisError(.timedOut, command: command ?? "PING", "Redis did not answer in time\(hint)")
    }
}
