// Why a worker's admin port did not give the answer, and what the operator can do.

import ArgumentParser
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// A failed request to an admin port.
struct AdminFailure: Error {
    /// What happened, and what to do.
    let sentences: [String]
    let exit: ExitCode

    /// No worker listens at the address, or another program does.
    static func unreachable(_ address: AdminAddress, _ error: any Error) -> AdminFailure {
        let reason =
            switch error {
            case is HTTPExchange.NoAnswer:
                "it does not answer like an admin port"
                    + (address.isSecure ? "" : " (if it uses TLS, the address must begin with https://)")
            case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: Self.reason(tls: "\(error)")
            case let error as NIOConnectionError where !error.connectionErrors.isEmpty:
                (error.connectionErrors[0].error as? IOError).map { String(cString: strerror($0.errnoCode)) }
                    ?? "\(error)"
            default: "\(error)"
            }
        return AdminFailure(
            sentences: [
                "no worker answers at \(address): \(Shown.text(reason))",
                "Name another with --admin URL. A worker's ready line has the address of its admin port (admin=…).",
            ], exit: .cannotServe)
    }

    /// TLS errors of the library, as sentences for operators.
    private static func reason(tls text: String) -> String {
        let reasons = [
            (
                "CERTIFICATE_VERIFY_FAILED",
                "its certificate cannot be verified: it has expired, or no trusted authority has issued it (--authority)"
            ),
            ("failedToValidateHostname", "its certificate is for another host"),
            ("WRONG_VERSION_NUMBER", "it does not use TLS (for HTTP, the address must begin with http://)"),
            ("CERTIFICATE_REQUIRED", "it requires a client certificate (--certificate and --private-key)"),
            ("HANDSHAKE_FAILURE", "it ended the TLS handshake; it may require a client certificate (--certificate)"),
            ("ALERT_UNKNOWN_CA", refusedCertificate), ("BAD_CERTIFICATE", refusedCertificate),
            ("CERTIFICATE_EXPIRED", refusedCertificate), ("CERTIFICATE_UNKNOWN", refusedCertificate),
        ]
        return reasons.first { text.contains($0.0) }?.1 ?? "TLS failed: \(text)"
    }

    private static let refusedCertificate = "it rejects the client certificate (--certificate)"

    /// A worker answered with an error status.
    static func refused(_ address: AdminAddress, _ answer: HTTPExchange.Answer, showsToken: Bool) -> AdminFailure {
        struct Problem: Decodable {
            var detail: String
        }
        let problem = try? JSONDecoder().decode(Problem.self, from: Data(answer.body.readableBytesView))
        var sentences = ["\(address): \(Shown.text(problem?.detail ?? "\(answer.status)"))"]
        if answer.status == .unauthorized {
            sentences.append(
                showsToken
                    ? "The token of --token-file is not the one in the worker's admin.token_file."
                    : "Use --token-file FILE with the token of the worker's admin.token_file.")
        }
        return AdminFailure(
            sentences: sentences, exit: answer.status == .serviceUnavailable ? .cannotServe : .failure)
    }
}
