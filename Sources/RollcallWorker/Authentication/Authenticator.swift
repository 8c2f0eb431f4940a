// Who is calling, decided by a token. Checking one is synchronous and touches no shared state, so that each shard does
// it on its own event loop.

public import RollcallModel

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Tells from a token who somebody is.
public struct Authenticator: Sendable {
    private enum Mode: Sendable {
        case insecure
        case signed(keys: VerificationKeys, rules: TokenRules)
    }

    private let mode: Mode

    /// Prepares the keys.
    ///
    /// - Throws: ``ConfigurationProblems`` for keys that ``WorkerConfiguration/load(file:environment:overrides:)``
    ///   would have refused.
    public init(_ configuration: WorkerConfiguration.Auth) async throws(ConfigurationProblems) {
        switch configuration.mode {
        case .insecure:
            mode = .insecure
        case .jwt:
            mode = .signed(
                keys: try await Self.keys(configuration),
                rules: TokenRules(issuer: configuration.issuer, audience: configuration.audience))
        }
    }

    private static func keys(
        _ configuration: WorkerConfiguration.Auth
    ) async throws(ConfigurationProblems) -> VerificationKeys {
        var keys = VerificationKeys()
        var problems: [ConfigurationProblem] = []
        do {
            if let secret = configuration.secret { try await keys.add(secret: secret) }
        } catch {
            problems.append(ConfigurationProblem(.malformed, "auth.secret_file", error.description))
        }
        do {
            if let jwks = configuration.jwks { try await keys.add(jwks: jwks) }
        } catch {
            problems.append(ConfigurationProblem(.unusableFile, "auth.jwks_file", error.description))
        }
        if keys.keys.isEmpty, problems.isEmpty {
            problems.append(ConfigurationProblem(.missing, "auth.secret_file", "without a key no token can be checked"))
        }
        guard problems.isEmpty else { throw ConfigurationProblems(problems) }
        return keys
    }

    /// Checks a token.
    ///
    /// The token is good until its `exp`, to the second; it may be dated up to a minute ahead of this machine's clock.
    ///
    /// - Parameters:
    ///   - device: what the client calls its device. The token's own `device` counts, and must not differ from it.
    ///   - now: the time of day on this machine.
    public func authenticate(
        token: String, device: DeviceID?, now: Date = .now
    ) throws(AuthenticationError) -> Identity {
        switch mode {
        case .insecure:
            Identity(user: try user(named: token), device: try Identity.device(device), expires: nil)
        case .signed(let keys, let rules):
            try rules.identity(try SignedToken(token).claims(signedBy: keys), device: device, now: now)
        }
    }

    private func user(named token: String) throws(AuthenticationError) -> UserID {
        do {
            return try UserID(token)
        } catch {
            throw AuthenticationError(.malformed, "the token must be the user's name: \(error)")
        }
    }
}
