// Checks the claims of a token whose signature is valid.

import Foundation
import RollcallProtocol
import RollcallServer

/// Converts claims to an identity, or throws the reason why not.
struct TokenRules: Sendable {
    /// The required `iss`, if any.
    var issuer: ByteString?
    /// The required `aud` entry, if any.
    var audience: ByteString?
    /// The tolerated clock difference to the issuer. A token is valid this long before its `nbf`, for an issuer whose
    /// clock is ahead, and this long after its `exp`, for one whose clock is behind. Sessions end at the extended
    /// `exp`.
    var leeway = Duration.zero
    /// The maximum time between a token's `iat` and its `exp`; `nil` for no maximum. Revocations are deleted after
    /// `presence.retention`, and a token that lives longer would become valid again.
    var maxLifetime: Duration?
    /// The claim that says which user it is, or a path of objects with dots.
    var userClaim: ByteString = "sub"
    /// What each user's name begins with.
    var prefix: ByteString = ""
    /// What the names of other issuers' users begin with, if this one's have no prefix.
    var foreignPrefixes: [ByteString] = []
    /// The claim with the user's name, or a path of objects with dots; `nil` for none.
    var nameClaim: ByteString?
    /// The longest that a device waits for its token to become valid. It is short because this host's clock may be
    /// wrong, and another worker may accept the token at once.
    static let longestWait = Duration.seconds(2)

    /// The end of the year 9999. Later times are clamped to it, so that time arithmetic does not overflow.
    private static let latest = 253_402_300_799.0

    func identity(
        _ claims: Claims, device offered: DeviceID?, clocks: TokenClocks
    ) throws(AuthenticationError) -> Identity {
        let end = try end(claims, clocks)
        if let issuer, claims.iss != issuer {
            throw AuthenticationError(
                .wrongIssuer,
                "the token's iss is \(claims.iss?.shown ?? "missing"), and this worker's issuer \(issuer.shown)")
        }
        if let audience, claims.aud?.names.contains(audience) != true {
            let names = claims.aud.map { $0.names.prefix(3).map(\.shown).joined(separator: ", ") } ?? "missing"
            throw AuthenticationError(
                .wrongAudience, "the token's aud is \(names), and this worker's audience \(audience.shown)")
        }
        let (user, device) = (try user(claims.user), try device(claims.device, offered))
        try demandShortLife(claims)
        let join = try right(claims.join, "join", .wrongJoin)
        let watch = try right(claims.watch, "watch", .wrongWatch)
        return Identity(
            user: user, device: device, expires: Date(timeIntervalSince1970: end),
            // Without `iat` the issue time is unknown, so any revocation may apply to the token.
            issued: Date(timeIntervalSince1970: max(0, min(claims.iat ?? 0, Self.latest))),
            grant: Grant(join: join, watch: watch, profile: claims.profile))
    }

    private func right<Kind>(
        _ claim: Result<NameRight<Kind>?, UnexpectedJSON>, _ name: String, _ wrong: AuthenticationError.Code
    ) throws(AuthenticationError) -> NameRight<Kind>? {
        do throws(UnexpectedJSON) {
            return try claim.get()
        } catch {
            throw AuthenticationError(
                wrong,
                "the token's \(name) must be \"*\" or a list of at most \(NameRights.mostEntries) names and patterns: \(error)"
            )
        }
    }

    /// Returns when the token expires, if it is valid now.
    private func end(_ claims: Claims, _ clocks: TokenClocks) throws(AuthenticationError) -> Double {
        let leeway = leeway / .seconds(1)
        guard let expiry = claims.exp else { throw AuthenticationError(.malformed, "the token has no exp") }
        var end = min(expiry + leeway, Self.latest)
        // The leeway must not extend a token past the expiry of its revocation.
        if let maxLifetime, let issued = claims.iat { end = min(end, max(expiry, issued + maxLifetime / .seconds(1))) }
        guard clocks.seconds(until: Date(timeIntervalSince1970: end)) > 0 else {
            throw AuthenticationError(.expired, "the token has expired")
        }
        // A token issued in the future would count as issued after a revocation made now.
        let wait = max(claims.nbf ?? 0, claims.iat ?? 0) - leeway - clocks.latest.timeIntervalSince1970
        guard wait <= 0 else {
            var error = AuthenticationError(.notYetValid, "the token is not valid yet: its nbf or iat is in the future")
            error.wait = min(.milliseconds((min(wait, 1e9) * 1000).rounded(.up)), Self.longestWait)
            throw error
        }
        return end
    }

    private func demandShortLife(_ claims: Claims) throws(AuthenticationError) {
        guard let maxLifetime else { return }
        guard let issued = claims.iat, let expiry = claims.exp else {
            throw AuthenticationError(.livesTooLong, "the token has no iat, so its lifetime cannot be checked")
        }
        guard expiry - issued <= maxLifetime / .seconds(1) else {
            throw AuthenticationError(
                .livesTooLong,
                "the token's exp is more than auth.max_lifetime, \(DurationText.text(maxLifetime)), after its iat")
        }
    }

    /// Returns the token's device. The client may repeat it, but not name another.
    private func device(_ named: ByteString?, _ offered: DeviceID?) throws(AuthenticationError) -> DeviceID {
        guard named != nil else { return try Identity.device(offered) }
        let device: DeviceID = try name(named, "device")
        guard offered == nil || offered == device else {
            throw AuthenticationError(.wrongDevice, "the token is for another device")
        }
        return device
    }

    private func user(_ named: ByteString?) throws(AuthenticationError) -> UserID {
        if let named, let foreign = foreignPrefixes.first(where: { named.utf8.starts(with: $0.utf8) }) {
            throw AuthenticationError(
                .malformed,
                "the token's \(userClaim) \(named.shown) begins with \(foreign.shown), as another issuer's users do")
        }
        return try name(named.map { prefix.isEmpty ? $0 : ByteString(prefix.string + $0.string) }, userClaim.string)
    }

    private func name<Kind>(_ text: ByteString?, _ claim: String) throws(AuthenticationError) -> Identifier<Kind> {
        guard let text else { throw AuthenticationError(.malformed, "the token has no \(claim)") }
        do {
            return try Identifier(text)
        } catch {
            throw AuthenticationError(
                .malformed, "the token's \(claim) is not a valid name: \(error)", detail: "\(claim) \(text.shown)")
        }
    }
}
