// Who is calling, decided by a token. Checking one is synchronous and touches nothing shared but the keys, so that each
// shard does it on its own event loop.

package import Logging
internal import NIOCore
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
        case signed(by: KeyKeeper, rules: TokenRules)
    }

    private let mode: Mode

    /// Prepares the keys.
    ///
    /// - Throws: ``ConfigurationProblems`` for keys that ``WorkerConfiguration/load(file:environment:overrides:)``
    ///   would have refused.
    public init(_ configuration: WorkerConfiguration.Auth) async throws(ConfigurationProblems) {
        try await self.init(configuration, logger: Self.logger)
    }

    /// How it logs unless told otherwise.
    package static var logger: Logger { Logger(label: "rollcall.authentication") }

    /// - Parameter logger: is told of keys that are read anew, and of those that cannot be.
    package init(
        _ configuration: WorkerConfiguration.Auth, logger: Logger
    ) async throws(ConfigurationProblems) {
        guard configuration.mode == .jwt else {
            mode = .insecure
            return
        }
        let keys = try await VerificationKeys(configuration)
        let keeper = KeyKeeper(
            keys, files: configuration.keyFiles, logger: logger,
            fetch: configuration.jwksURL.map {
                KeySetFetch(url: $0, authority: configuration.jwksAuthority).contents
            })
        let rules = TokenRules(
            issuer: configuration.issuer, audience: configuration.audience, leeway: configuration.leeway,
            maxLifetime: configuration.maxLifetime)
        mode = .signed(by: keeper, rules: rules)
    }

    /// Keeps the keys as their files and their URL have them, until the task is cancelled. Called once; without it they
    /// stay as they were.
    public func run() async {
        if case .signed(let keeper, _) = mode { await keeper.run() }
    }

    /// Checks a token.
    ///
    /// The token is good from its `nbf` to its `exp`, and for the leeway before and after.
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
        case .signed(let keeper, let rules):
            try rules.identity(try SignedToken(token).claims(signedBy: keeper.keys), device: device, now: now)
        }
    }

    /// What to do about a token that was refused because its key is not known.
    ///
    /// - Returns: completes when it is worth checking the token again.
    /// - Throws: the refusal, if it stands; or that nobody can say now, where too many wait already.
    func lookAgain(
        after error: AuthenticationError, on eventLoop: any EventLoop
    ) throws(AuthenticationError) -> EventLoopFuture<Void> {
        guard error.mayBeNewKey, case .signed(let keeper, _) = mode, keeper.canLearn else { throw error }
        guard let later = keeper.lookAgain(on: eventLoop) else {
            throw AuthenticationError(.keysUnavailable, "too many wait for the keys of this worker to be refreshed")
        }
        return later
    }

    /// The refusal of a token after all was done to find its key.
    func final(_ error: AuthenticationError) -> AuthenticationError {
        guard error.mayBeNewKey, case .signed(let keeper, _) = mode, keeper.isInTheDark else { return error }
        return AuthenticationError(.keysUnavailable, "the keys of this worker cannot be refreshed at the moment")
    }

    private func user(named token: String) throws(AuthenticationError) -> UserID {
        do {
            return try UserID(token)
        } catch {
            throw AuthenticationError(.malformed, "the token must be the user's name: \(error)")
        }
    }
}
