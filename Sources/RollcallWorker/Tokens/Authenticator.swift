// Identifies callers by their tokens. Checking a token is synchronous and shares only the keys, so each shard checks
// tokens on its own event loop.

public import Foundation
package import Logging
public import RollcallProtocol
public import RollcallServer

/// Identifies users by their tokens.
public struct Authenticator: Sendable, TokenVerifier {
    private enum Mode: Sendable {
        case insecure
        case signed(by: KeyKeeper, rules: TokenRules)
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

    /// - Parameter logger: Logs when keys are reloaded, or cannot be.
    package init(_ configuration: WorkerConfiguration.Auth, logger: Logger) throws(ConfigurationProblems) {
        guard configuration.mode == .jwt else {
            mode = .insecure
            return
        }
        let files: [KeySource: String?] = [
            .secret: configuration.secretFile, .previousSecret: configuration.previousSecretFile,
            .jwksFile: configuration.jwksFile,
        ]
        let keeper = KeyKeeper(
            try VerificationKeys(configuration), files: files.compactMapValues(\.self), logger: logger,
            fetch: configuration.jwksURL.map {
                KeySetFetch(url: $0, authority: configuration.jwksAuthority).contents
            })
        let rules = TokenRules(
            issuer: configuration.issuer.map(ByteString.init), audience: configuration.audience.map(ByteString.init),
            leeway: configuration.leeway,
            maxLifetime: configuration.maxLifetime, nameClaim: configuration.nameClaim.map(ByteString.init))
        mode = .signed(by: keeper, rules: rules)
    }

    /// Keeps the keys in sync with their files and their URL, until the task is cancelled. Call it once; without it the
    /// keys never change.
    public func run() async {
        if case .signed(let keeper, _) = mode { await keeper.run() }
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
            try unproven(token, device)
        case .signed(let keeper, let rules):
            try rules.identity(
                try SignedToken(token).claims(signedBy: keeper.keys, name: rules.nameClaim), device: device,
                clocks: clocks)
        }
    }

    package func identity(
        token: ByteString, device: DeviceID?, clocks: TokenClocks
    ) throws(AuthenticationError) -> Identity {
        do throws(AuthenticationError) {
            return try authenticate(token: token, device: device, clocks: clocks)
        } catch {
            // An issuer may also replace a key under the same name, or without one.
            guard [.unknownKey, .badSignature, .wrongAlgorithm].contains(error.code), case .signed(let keeper, _) = mode
            else { throw error }
            keeper.look()
            guard keeper.isInTheDark else { throw error }
            throw AuthenticationError(.keysUnavailable, "the worker cannot fetch its keys at the moment")
        }
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
