// Checks tokens for a shard.

internal import Logging
internal import RollcallCore
internal import RollcallModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension ShardDriver {
    func authenticate(_ session: Session, token: ByteString, device: DeviceID?, id: MessageID?) {
        do throws(AuthenticationError) {
            welcome(try identity(of: session, token: token, device: device), session, id: id)
        } catch {
            refuse(session, error, id: id)
        }
    }

    private func welcome(_ identity: Identity, _ session: Session, id: MessageID?) {
        let lifetime = identity.expires.map { Duration.seconds(min($0.timeIntervalSinceNow, 1e9)) }
        let issued = identity.issued.map { Timestamp(milliseconds: Int64($0.timeIntervalSince1970 * 1000)) }
        after { shard, now in
            if let end = seat(identity, in: session) { return shard.refused(session, end, at: now) }
            return shard.authenticated(
                session, user: identity.user, device: identity.device, lifetime: lifetime, issued: issued,
                right: identity.join, id: id, at: now)
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

    private func refuse(_ session: Session, _ error: AuthenticationError, id: MessageID?) {
        note(error)
        after { shard, now in
            // A token for another device is no renewal.
            guard error.code != .wrongDevice else {
                return shard.refused(session, error.end, at: now)
            }
            return shard.tokenRefused(session, error.end, id: id, at: now)
        }
    }
}
