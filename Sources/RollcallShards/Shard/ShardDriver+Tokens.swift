// Checks tokens for a shard. An unknown key is fetched elsewhere while the loop continues. The wait ends with the time
// limit for hello, or when the previous token expires.

internal import Logging
internal import NIOCore
internal import RollcallCore
internal import RollcallModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension ShardDriver {
    func authenticate(_ key: SessionKey, token: ByteString, device: DeviceID?, id: MessageID?) {
        do throws(AuthenticationError) {
            welcome(try identity(of: key, token: token, device: device), key, id: id)
        } catch {
            lookAgain(after: error, key, token: token, device: device, id: id)
        }
    }

    private func lookAgain(
        after error: AuthenticationError, _ key: SessionKey, token: ByteString, device: DeviceID?, id: MessageID?
    ) {
        do throws(AuthenticationError) {
            guard let authenticator else { throw error }
            let later = try authenticator.lookAgain(after: error, on: eventLoop)
            let limit = lastAnswer(to: key).map { deadline in
                eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { [self] in
                    refuse(key, AuthenticationError(.keysUnavailable, "the key was not found in time"), id: id)
                }
            }
            later.assumeIsolated().whenComplete { [self] _ in
                limit?.cancel()
                authenticateAgain(key, token: token, device: device, id: id)
            }
        } catch {
            refuse(key, error, id: id)
        }
    }

    /// When to answer a session whose token waits for its key: shortly before its time limit for hello. A device that
    /// sent hello in time is not late, and retries when the worker may have the key.
    ///
    /// - Returns: `nil` for a session that was welcomed before.
    private func lastAnswer(to key: SessionKey) -> NIODeadline? {
        guard occupants.indices.contains(Int(key.index)), let occupant = occupants[Int(key.index)],
            occupant.key == key, occupant.seat == nil
        else { return nil }
        let end = occupant.since + (helloTime - min(.milliseconds(250), helloTime / 10))
        return .uptimeNanoseconds(UInt64(max(0, end.nanoseconds)))
    }

    private func authenticateAgain(_ key: SessionKey, token: ByteString, device: DeviceID?, id: MessageID?) {
        do throws(AuthenticationError) {
            welcome(try identity(of: key, token: token, device: device), key, id: id)
        } catch {
            refuse(key, authenticator?.final(error) ?? error, id: id)
        }
    }

    private func welcome(_ identity: Identity, _ key: SessionKey, id: MessageID?) {
        let lifetime = identity.expires.map { Duration.seconds(min($0.timeIntervalSinceNow, 1e9)) }
        let issued = identity.issued.map { Timestamp(milliseconds: Int64($0.timeIntervalSince1970 * 1000)) }
        after { shard, now in
            if let code = seat(identity, in: key) { return shard.refused(key, code, at: now) }
            return shard.authenticated(
                key, user: identity.user, device: identity.device, lifetime: lifetime, issued: issued,
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

    private func refuse(_ key: SessionKey, _ error: AuthenticationError, id: MessageID?) {
        note(error)
        after { shard, now in
            // A token for another device is no renewal.
            guard error.code != .wrongDevice else {
                return shard.refused(key, error.closeCode, because: "\(error)", at: now)
            }
            return shard.tokenRefused(
                key, error.closeCode, because: "\(error)", reason: error.code == .unknownKey ? .unknownKey : nil,
                after: error.wait, id: id, at: now)
        }
    }
}
