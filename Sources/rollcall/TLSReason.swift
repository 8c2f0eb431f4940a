// Why TLS failed, for what somebody at a terminal can do something about.

import NIOSSL

enum TLSReason {
    private static let reasons = [
        (
            "CERTIFICATE_VERIFY_FAILED",
            "its certificate cannot be verified: it has expired, or no trusted authority has issued it (--authority)"
        ),
        ("failedToValidateHostname", "its certificate is for another host"),
        ("WRONG_VERSION_NUMBER", "it does not use TLS (for it, the address must begin with http:// or ws://)"),
        ("CERTIFICATE_REQUIRED", "it requires a client certificate (--certificate and --private-key)"),
        ("HANDSHAKE_FAILURE", "it ended the TLS handshake; it may require a client certificate (--certificate)"),
    ]

    /// - Returns: `nil` for an error that is not one of TLS.
    static func sentence(_ error: any Error) -> String? {
        let text = "\(error)"
        if let known = reasons.first(where: { text.contains($0.0) }) { return known.1 }
        guard error is NIOSSLError || error is NIOSSLExtraError || error is BoringSSLError else { return nil }
        return text.contains("ALERT") ? "it rejects the client certificate (--certificate)" : "TLS failed: \(text)"
    }
}
