// Checks tokens for a shard.

internal import Logging
package import RollcallCore
package import RollcallModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension ShardDriver {
    /// Returns whose device shows this token.
    package func proof(of token: ByteString, device: DeviceID?) throws(ProofRefusal) -> Proof {
        do throws(AuthenticationError) {
            guard let authenticator else { throw AuthenticationError(.wrongAlgorithm, "this node takes no tokens") }
            return try authenticator.identity(token: token, device: device).proof
        } catch {
            note(error)
            // A token for another device is no renewal.
            throw ProofRefusal(error.end, endsWelcomed: error.code == .wrongDevice)
        }
    }

    /// Logs a refused token, each rule at most once a minute. What the issuer has signed is a mistake of somebody's; anybody
    /// can send what it has not.
    private func note(_ error: AuthenticationError) {
        guard refusedTokens[error.code, default: RepeatedProblem()].occurred(error.code.rawValue, at: .now) else {
            return
        }
        let metadata: Logger.Metadata = ["code": "\(error.code.rawValue)", "reason": "\(error.message)"]
        switch error.code {
        case .wrongType, .livesTooLong, .notYetValid, .wrongIssuer, .wrongAudience, .wrongJoin:
            logger.warning("signed tokens are refused", metadata: metadata)
        case .malformed, .wrongAlgorithm, .unknownKey, .keysUnavailable, .badSignature, .expired, .wrongDevice,
            .noDevice:
            logger.info("tokens are refused", metadata: metadata)
        }
    }
}

extension Identity {
    fileprivate var proof: Proof {
        Proof(
            user: user, device: device, lifetime: expires.map { .seconds(min($0.timeIntervalSinceNow, 1e9)) },
            issued: issued.map { Timestamp(milliseconds: Int64($0.timeIntervalSince1970 * 1000)) }, right: join)
    }
}
