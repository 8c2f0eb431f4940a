// What the claims of a token must be, once its signature is known to be right.

import RollcallModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Turns claims into an identity, or says why not.
struct TokenRules: Sendable {
    /// What `iss` must be, if anything.
    var issuer: String?
    /// What `aud` must contain, if anything.
    var audience: String?
    /// How far the issuer's clock and ours may be apart: a token is good so much before its `nbf`, for an issuer that
    /// is ahead, and after its `exp`, for one that is behind. The session ends no sooner either.
    var leeway = Duration.zero

    /// The end of the year 9999: what is later is treated as this, so that no clock arithmetic overflows.
    private static let latest = 253_402_300_799.0

    func identity(
        _ claims: Claims, device offered: DeviceID?, now: Date
    ) throws(AuthenticationError) -> Identity {
        let end = try end(claims, now: now)
        if let issuer, claims.iss != issuer {
            throw AuthenticationError(.wrongIssuer, "the token's iss is not what this worker asks for")
        }
        if let audience, claims.aud?.names.contains(audience) != true {
            throw AuthenticationError(.wrongAudience, "the token's aud does not contain what this worker asks for")
        }
        return Identity(
            user: try name(claims.sub, "sub"), device: try device(claims.device, offered),
            expires: Date(timeIntervalSince1970: end),
            // Who knows when a token without `iat` was issued? Any revocation may be meant for it.
            issued: Date(timeIntervalSince1970: max(0, min(claims.iat ?? 0, Self.latest))))
    }

    /// When the token ends for us, if this is a moment within its life.
    private func end(_ claims: Claims, now: Date) throws(AuthenticationError) -> Double {
        let leeway = leeway / .seconds(1)
        guard let expiry = claims.exp else { throw AuthenticationError(.malformed, "the token has no exp") }
        guard now.timeIntervalSince1970 < expiry + leeway else {
            throw AuthenticationError(.expired, "the token has expired")
        }
        if let start = claims.nbf, now.timeIntervalSince1970 + leeway < start {
            throw AuthenticationError(.notYetValid, "the token is not valid yet")
        }
        return min(expiry + leeway, Self.latest)
    }

    /// The token's device counts; the client may repeat it, but not claim another.
    private func device(_ named: String?, _ offered: DeviceID?) throws(AuthenticationError) -> DeviceID {
        guard named != nil else { return try Identity.device(offered) }
        let device: DeviceID = try name(named, "device")
        guard offered == nil || offered == device else {
            throw AuthenticationError(.wrongDevice, "the token is for another device")
        }
        return device
    }

    private func name<Kind>(_ text: String?, _ claim: String) throws(AuthenticationError) -> Identifier<Kind> {
        guard let text else { throw AuthenticationError(.malformed, "the token has no \(claim)") }
        do {
            return try Identifier(text)
        } catch {
            throw AuthenticationError(.malformed, "the token's \(claim) is no name: \(error)")
        }
    }
}
