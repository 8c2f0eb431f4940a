// Identifies callers by their tokens. Checking a token is synchronous and shares only the keys, so each shard checks
// tokens on its own event loop.

public import Foundation
package import Logging
package import Metrics
public import RollcallProtocol
public import RollcallServer

/// Identifies users by their tokens.
public struct Authenticator: Sendable, TokenVerifier {
    /// An issuer, with its keys and its rules.
    private struct Party: Sendable {
        let keeper: KeyKeeper
        let rules: TokenRules
    }

    private enum Mode: Sendable {
        case insecure
        case signed(by: [Party])
    }

    private let mode: Mode

    /// Prepares the keys.
    ///
    /// - Throws: ``ConfigurationProblems`` for keys that ``WorkerConfiguration/load(file:environment:overrides:)``
    ///   would have rejected.
    public init(_ configuration: WorkerConfiguration.Auth) throws(ConfigurationProblems) {
        try self.init(configuration, logger: Self.logger)
    }

    /// The default logger.
    package static var logger: Logger { Logger(label: "rollcall.authentication") }

    /// - Parameters:
    ///   - logger: Logs when keys are reloaded, or cannot be.
    ///   - metrics: Where the age of key sets is reported.
    package init(
        _ configuration: WorkerConfiguration.Auth, logger: Logger, metrics: (any MetricsFactory)? = nil
    ) throws(ConfigurationProblems) {
        guard configuration.mode == .jwt else {
            mode = .insecure
            return
        }
        let prefixes = configuration.issuers.compactMap(\.prefix).map(ByteString.init)
        var parties: [Party] = []
        for issuer in configuration.each {
            let files: [KeySource: String?] = [
                .secret: issuer.secretFile, .previousSecret: issuer.previousSecretFile, .jwksFile: issuer.jwksFile,
            ]
            let age = metrics?.makeMeter(label: Metric.keysAge.rawValue, dimensions: [("issuer", issuer.issuer ?? "")])
            let keeper = KeyKeeper(
                try VerificationKeys(issuer), files: files.compactMapValues(\.self), logger: logger,
                age: issuer.jwksURL == nil ? nil : age,
                fetch: issuer.jwksURL.map { KeySetFetch(url: $0, authority: issuer.jwksAuthority).contents })
            var rules = TokenRules(
                issuer: issuer.issuer.map(ByteString.init), audience: issuer.audience.map(ByteString.init),
                leeway: configuration.leeway, maxLifetime: configuration.maxLifetime)
            rules.userClaim = ByteString(issuer.userClaim)
            rules.nameClaim = issuer.nameClaim.map(ByteString.init)
            rules.prefix = ByteString(issuer.prefix ?? "")
            rules.foreignPrefixes = issuer.prefix == nil ? prefixes : []
            parties.append(Party(keeper: keeper, rules: rules))
        }
        mode = .signed(by: parties)
    }

    /// Keeps the keys in sync with their files and their URL, until the task is cancelled. Call it once; without it the
    /// keys never change.
    public func run() async {
        guard case .signed(let parties) = mode else { return }
        await withTaskGroup(of: Void.self) { group in
            for party in parties { group.addTask { await party.keeper.run() } }
        }
    }

    /// Checks a token.
    ///
    /// A token is valid from its `nbf` to its `exp`, extended by the leeway at both ends.
    ///
    /// - Parameters:
    ///   - device: The client's name for its device. The token's own `device` takes precedence, and must not differ
    ///     from it.
    ///   - now: The time of day on this machine.
    public func authenticate(
        token: String, device: DeviceID?, now: Date = .now
    ) throws(AuthenticationError) -> Identity {
        try authenticate(token: ByteString(token), device: device, clocks: TokenClocks(host: now, redis: now))
    }

    private func authenticate(
        token: ByteString, device: DeviceID?, clocks: TokenClocks
    ) throws(AuthenticationError) -> Identity {
        switch mode {
        case .insecure:
            return try unproven(token, device)
        case .signed(let parties):
            let token = try SignedToken(token)
            let party = try Self.party(of: token, among: parties)
            do throws(AuthenticationError) {
                let (keeper, rules) = (party.keeper, party.rules)
                let claims = try token.claims(signedBy: keeper.keys, user: rules.userClaim, name: rules.nameClaim)
                do throws(AuthenticationError) {
                    return try rules.identity(claims, device: device, clocks: clocks)
                } catch {
                    var error = error
                    error.isSigned = true
                    throw error
                }
            } catch {
                // An issuer may also replace a key under the same name, or without one.
                guard [.unknownKey, .badSignature, .wrongAlgorithm].contains(error.code) else { throw error }
                party.keeper.look()
                guard party.keeper.isInTheDark else { throw error }
                throw AuthenticationError(
                    .keysUnavailable, "the worker cannot fetch its keys at the moment", detail: error.detail)
            }
        }
    }

    /// Of several issuers, the one that the token names: only its keys are tried.
    private static func party(of token: SignedToken, among parties: [Party]) throws(AuthenticationError) -> Party {
        if parties.count == 1 { return parties[0] }
        let alleged = token.allegedIssuer
        guard let party = parties.first(where: { $0.rules.issuer == alleged }) else {
            throw AuthenticationError(
                .wrongIssuer, "the token's iss is none of this worker's issuers",
                detail: "iss \(alleged?.shown ?? "missing"), issuers "
                    + parties.compactMap { $0.rules.issuer?.shown }.joined(separator: ", "))
        }
        return party
    }

    package func identity(
        token: ByteString, device: DeviceID?, clocks: TokenClocks
    ) throws(AuthenticationError) -> Identity {
        try authenticate(token: token, device: device, clocks: clocks)
    }

    /// Reads `USER`, or `USER NAME`: no user's id has a space.
    private func unproven(_ token: ByteString, _ device: DeviceID?) throws(AuthenticationError) -> Identity {
        let words = token.utf8.split(separator: UInt8(ascii: " "), maxSplits: 1, omittingEmptySubsequences: false)
            .map { ByteString(decoding: $0) }
        let profile = Profile(name: words.count > 1 ? words[1] : nil)
        let user: UserID
        do {
            user = try UserID(words.first ?? "")
        } catch {
            throw AuthenticationError(.malformed, "the token must be the user's name: \(error)")
        }
        return Identity(
            user: user, device: try Identity.device(device), expires: nil, grant: Grant(profile: profile))
    }
}
