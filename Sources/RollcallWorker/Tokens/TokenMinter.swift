// Creates tokens, for `rollcall token`, tests, and Swift servers that issue their own.

import Crypto
public import Foundation
public import RollcallProtocol
public import RollcallServer

/// Signs tokens with HS256.
public struct TokenMinter: Sendable {
    private let key: SymmetricKey
    private let issuer: String?
    private let audience: String?

    /// - Parameter configuration: Uses `secret`, `issuer` and `audience`, so that workers with the same configuration
    ///   accept the tokens.
    /// - Throws: ``ConfigurationProblems`` if the secret is missing or too short.
    public init(_ configuration: WorkerConfiguration.Auth) throws(ConfigurationProblems) {
        guard let secret = configuration.secret, secret.bytes.count >= WorkerConfiguration.Auth.shortestSecret else {
            throw ConfigurationProblems([
                ConfigurationProblem(
                    .missing, "auth.secret_file",
                    "signing needs a secret of at least \(WorkerConfiguration.Auth.shortestSecret) bytes")
            ])
        }
        key = SymmetricKey(data: secret.bytes)
        issuer = configuration.issuer
        audience = configuration.audience
    }

    /// Creates a token for `user`, limited to one device if it is named.
    ///
    /// - Parameters:
    ///   - name: The user's name for people; `nil` for none.
    ///   - join: Which conversations without members the token opens; `nil` leaves that to `conversations.default`.
    ///   - watch: Which users it lets the session ask about; `nil` leaves that to `access.watch`.
    ///   - lifetime: The token's lifetime, in whole seconds, at least 1.
    ///   - now: The time of day on this machine.
    public func token(
        for user: UserID, device: DeviceID? = nil, name: String? = nil, join: JoinRight? = nil,
        watch: WatchRight? = nil, lifetime: Duration, now: Date = .now
    ) throws -> String {
        let seconds = now.timeIntervalSince1970.rounded(.down)
        let claims = Claims(
            sub: user.text, exp: seconds + Double(max(1, lifetime.components.seconds)), iat: seconds, iss: issuer,
            aud: audience, device: device?.text, name: name, join: join, watch: watch)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let signed =
            Base64URL.text(Data(#"{"alg":"HS256","typ":"JWT"}"#.utf8)) + "."
            + Base64URL.text(try encoder.encode(claims))
        let code = HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: key)
        return signed + "." + Base64URL.text(Data(code))
    }

    private struct Claims: Encodable {
        let sub: String
        let exp: Double
        let iat: Double
        let iss: String?
        let aud: String?
        let device: String?
        let name: String?
        let join: JoinRight?
        let watch: WatchRight?
    }
}
