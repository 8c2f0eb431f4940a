// Making tokens, for `rollcall token`, for tests, and for servers in Swift that issue their own.

import JWTKit
public import RollcallModel

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Signs tokens with HS256.
public struct TokenMinter: Sendable {
    private let keys: JWTKeyCollection
    private let issuer: String?
    private let audience: String?

    /// - Parameter configuration: of which `secret`, `issuer` and `audience` count, so that workers with the same
    ///   configuration take the tokens.
    /// - Throws: ``ConfigurationProblems`` if there is no secret, or one that is too short.
    public init(_ configuration: WorkerConfiguration.Auth) async throws(ConfigurationProblems) {
        guard let secret = configuration.secret, secret.bytes.count >= WorkerConfiguration.Auth.shortestSecret else {
            throw ConfigurationProblems([
                ConfigurationProblem(
                    .missing, "auth.secret_file",
                    "tokens are signed with a secret of at least \(WorkerConfiguration.Auth.shortestSecret) bytes")
            ])
        }
        keys = await JWTKeyCollection().add(hmac: HMACKey(from: secret.bytes), digestAlgorithm: .sha256)
        issuer = configuration.issuer
        audience = configuration.audience
    }

    /// A token for `user`, and for one device only if it is named.
    ///
    /// - Parameters:
    ///   - lifetime: how long the token is good, to the second, and at least one.
    ///   - now: the time of day on this machine.
    public func token(
        for user: UserID, device: DeviceID? = nil, lifetime: Duration, now: Date = .now
    ) async throws -> String {
        let seconds = now.timeIntervalSince1970.rounded(.down)
        let claims = Claims(
            sub: user.text, exp: seconds + Double(max(1, lifetime.components.seconds)), nbf: nil, iat: seconds,
            iss: issuer, aud: audience.map(Claims.Audience.init), device: device?.text)
        return try await keys.sign(claims)
    }
}
