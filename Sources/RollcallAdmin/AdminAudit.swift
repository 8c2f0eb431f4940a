// The audit log: one line per authorized request that changes something, whatever its outcome.

import Crypto
import Hummingbird
import Logging
import RollcallConfiguration
import RollcallModel
import RollcallShards

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Logs who changed what. Users appear as a keyed hash of their name: the key holder can find a user's lines, and the
/// log alone identifies no user.
struct AdminAudit: Sendable {
    private let tokens: AdminTokenKeeper
    private let drawn = SymmetricKey(size: .bits256)
    private let logger: Logger

    /// - Parameter tokens: The operator token is the source of the hash key, so workers with the same token write the
    ///   same hashes. Without a token the key is random, and hashes match only within one run of one worker.
    init(_ tokens: AdminTokenKeeper, logger: Logger) {
        self.tokens = tokens
        self.logger = logger
    }

    /// Derived from the token, so the audit key does not open the admin port.
    private var key: SymmetricKey {
        guard let token = tokens.tokens.operatorToken else { return drawn }
        return HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: token.bytes), info: Data("rollcall audit".utf8), outputByteCount: 32)
    }

    func note(_ method: HTTPRequest.Method, _ route: AdminRoute, from context: AdminContext, _ status: Int) {
        var metadata: Logger.Metadata = [
            "method": "\(method.rawValue)", "route": "\(route.place.rawValue)", "status": "\(status)",
            "remote": "\(context.remoteAddress?.ipAddress ?? "unknown")",
        ]
        if let user = route.user { metadata["subject"] = "\(subject(user))" }
        logger.notice("admin change", metadata: metadata)
        if let user = route.user { logger.debug("admin change of a user", metadata: ["user": "\(user)"]) }
    }

    /// Returns the first half of HMAC-SHA256 of the name, in hexadecimal.
    func subject(_ user: UserID) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Data(user.text.utf8), using: key)
        return code.prefix(8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
