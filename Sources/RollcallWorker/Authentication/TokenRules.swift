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
    /// The most that may lie between a token's `iat` and its `exp`. A revocation is forgotten after
    /// `presence.retention`, so that a token which lives longer would count again. `nil` for any time.
    var maxLifetime: Duration?
    /// The longest that a device is asked to wait for its token to become good. Short: it may be this host's clock that
    /// is wrong, and another worker takes the token at once.
    static let longestWait = Duration.seconds(2)

    /// The end of the year 9999: what is later is treated as this, so that no clock arithmetic overflows.
    private static let latest = 253_402_300_799.0

    func identity(
        _ claims: Claims, device offered: DeviceID?, now: Date
    ) throws(AuthenticationError) -> Identity {
        let end = try end(claims, now: now)
        if let issuer, claims.iss?.isSame(as: issuer) != true {
            throw AuthenticationError(.wrongIssuer, "the token's iss is not what this worker asks for")
        }
        if let audience, claims.aud?.names.contains(where: { $0.isSame(as: audience) }) != true {
            throw AuthenticationError(.wrongAudience, "the token's aud does not contain what this worker asks for")
        }
        let (user, device) = (try name(claims.sub, "sub") as UserID, try device(claims.device, offered))
        try demandShortLife(claims)
        return Identity(
            user: user, device: device, expires: Date(timeIntervalSince1970: end),
            // Who knows when a token without `iat` was issued? Any revocation may be meant for it.
            issued: Date(timeIntervalSince1970: max(0, min(claims.iat ?? 0, Self.latest))))
    }

    /// When the token ends for us, if this is a moment within its life.
    private func end(_ claims: Claims, now: Date) throws(AuthenticationError) -> Double {
        let leeway = leeway / .seconds(1)
        guard let expiry = claims.exp else { throw AuthenticationError(.malformed, "the token has no exp") }
        var end = min(expiry + leeway, Self.latest)
        // The leeway must not carry a token beyond the revocation that it is under.
        if let maxLifetime, let issued = claims.iat { end = min(end, max(expiry, issued + maxLifetime / .seconds(1))) }
        guard now.timeIntervalSince1970 < end else { throw AuthenticationError(.expired, "the token has expired") }
        // A token issued in the future would count as issued after a revocation of now.
        let wait = max(claims.nbf ?? 0, claims.iat ?? 0) - leeway - now.timeIntervalSince1970
        guard wait <= 0 else {
            var error = AuthenticationError(.notYetValid, "the token is not valid yet: its nbf or iat lies ahead")
            error.wait = min(.milliseconds((min(wait, 1e9) * 1000).rounded(.up)), Self.longestWait)
            throw error
        }
        return end
    }

    private func demandShortLife(_ claims: Claims) throws(AuthenticationError) {
        guard let maxLifetime else { return }
        guard let issued = claims.iat, let expiry = claims.exp else {
            throw AuthenticationError(.livesTooLong, "the token has no iat, so it may live too long")
        }
        guard expiry - issued <= maxLifetime / .seconds(1) else {
            throw AuthenticationError(
                .livesTooLong,
                "the token's exp is more than auth.max_lifetime, \(DurationText.text(maxLifetime)), after its iat")
        }
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
