// The audit: one line for each request that changes something, whatever became of it.

import Crypto
import Hummingbird
import Logging
import RollcallModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Notes who changed what. A user is told by a keyed hash of their name: whoever has the key finds a user's lines, and
/// the log alone names nobody.
struct AdminAudit: Sendable {
    private let tokens: AdminTokenKeeper
    private let drawn = SymmetricKey(size: .bits256)
    private let logger: Logger

    /// - Parameter tokens: of which the operators' is what the key is derived from, so that lines of all workers with the
    ///   same token agree. Without one the key is drawn, and the lines of one worker's run agree.
    init(_ tokens: AdminTokenKeeper, logger: Logger) {
        self.tokens = tokens
        self.logger = logger
    }

    /// Derived, so that the key of the audit opens no admin port.
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

    /// The first half of HMAC-SHA256 of the name, in hexadecimal digits.
    func subject(_ user: UserID) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Data(user.text.utf8), using: key)
        return code.prefix(8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
