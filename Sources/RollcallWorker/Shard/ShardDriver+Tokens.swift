// Tokens: what a shard makes of one, be it after a while. A key that is not known yet is looked for elsewhere, and the
// loop goes on meanwhile; what bounds the wait is the hello's time, or the end of the token before.

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif
internal import Logging
internal import NIOCore
internal import RollcallCore
internal import RollcallModel

extension ShardDriver {
    func authenticate(_ key: SessionKey, token: String, device: DeviceID?, id: MessageID?) {
        do throws(AuthenticationError) {
            welcome(try identity(of: key, token: token, device: device), key, id: id)
        } catch {
            lookAgain(after: error, key, token: token, device: device, id: id)
        }
    }

    private func lookAgain(
        after error: AuthenticationError, _ key: SessionKey, token: String, device: DeviceID?, id: MessageID?
    ) {
        do throws(AuthenticationError) {
            let later = try authenticator.lookAgain(after: error, on: eventLoop)
            later.assumeIsolated().whenComplete { [self] _ in
                authenticateAgain(key, token: token, device: device, id: id)
            }
        } catch {
            refuse(key, error, id: id)
        }
    }

    private func authenticateAgain(_ key: SessionKey, token: String, device: DeviceID?, id: MessageID?) {
        do throws(AuthenticationError) {
            welcome(try identity(of: key, token: token, device: device), key, id: id)
        } catch {
            refuse(key, authenticator.final(error), id: id)
        }
    }

    private func welcome(_ identity: Identity, _ key: SessionKey, id: MessageID?) {
        let lifetime = identity.expires.map { Duration.seconds(min($0.timeIntervalSinceNow, 1e9)) }
        let issued = identity.issued.map { Timestamp(milliseconds: Int64($0.timeIntervalSince1970 * 1000)) }
        after { shard, now in
            if let code = seat(identity, in: key) { return shard.refused(key, code, at: now) }
            return shard.authenticated(
                key, user: identity.user, device: identity.device, lifetime: lifetime, issued: issued, id: id, at: now)
        }
    }

    private func refuse(_ key: SessionKey, _ error: AuthenticationError, id: MessageID?) {
        logger.debug("token refused", metadata: ["reason": "\(error.message)"])
        after { shard, now in
            switch error.code {
            case .keysUnavailable: shard.tokenUnchecked(key, id: id, at: now)
            case .malformed, .unknownKey, .badSignature, .expired, .notYetValid, .wrongIssuer, .wrongAudience,
                .wrongDevice, .noDevice:
                shard.refused(key, error.closeCode, at: now)
            }
        }
    }
}
