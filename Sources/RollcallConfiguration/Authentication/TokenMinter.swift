// Creates tokens, for `rollcall token`, tests, and Swift servers that issue their own.

import JWTKit
public import RollcallModel
public import RollcallShards

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

    /// - Parameter configuration: Uses `secret`, `issuer` and `audience`, so that workers with the same configuration
    ///   accept the tokens.
    /// - Throws: ``ConfigurationProblems`` if the secret is missing or too short.
    public init(_ configuration: WorkerConfiguration.Auth) async throws(ConfigurationProblems) {
        guard let secret = configuration.secret, secret.bytes.count >= WorkerConfiguration.Auth.shortestSecret else {
            throw ConfigurationProblems([
                ConfigurationProblem(
                    .missing, "auth.secret_file",
                    "signing needs a secret of at least \(WorkerConfiguration.Auth.shortestSecret) bytes")
            ])
        }
        keys = await JWTKeyCollection().add(hmac: HMACKey(from: secret.bytes), digestAlgorithm: .sha256)
        issuer = configuration.issuer
        audience = configuration.audience
    }

    /// Creates a token for `user`, limited to one device if it is named.
    ///
    /// - Parameters:
    ///   - lifetime: The token's lifetime, in whole seconds, at least 1.
    ///   - now: The time of day on this machine.
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
