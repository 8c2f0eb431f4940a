// Signs the tokens of a stage's devices with HS256, written by hand so that the suite does not depend on the code under
// test.

internal import Crypto
internal import Foundation
internal import Harness
internal import RollcallClient

/// How devices authenticate.
public enum Authentication: String, CaseIterable, Sendable {
    /// `auth.mode: insecure`: the token is the user's name.
    case insecure
    /// `auth.mode: jwt`: short-lived signed tokens, with new ones sent over the connection before they expire.
    case jwt
}

/// Signs tokens with its own secret.
final class TokenIssuer: Sendable {
    private let key: SymmetricKey
    private let secret: URL

    /// How long a token is valid. A worker may be suspended for 15 s, during which devices cannot send new tokens.
    private static let lifetime = Duration.seconds(25)
    private static let refreshedAfter = Duration.seconds(6)
    private static let clockErrors = Duration.seconds(12 * 3600)
    private static let leeway = "5s"

    init() throws {
        let text = UUID().uuidString + UUID().uuidString
        key = SymmetricKey(data: Data(text.utf8))
        secret = FileManager.default.temporaryDirectory.appending(
            path: "rollcall-secret-\(UUID().uuidString.prefix(8))")
        try Data(text.utf8).write(to: secret)
    }

    deinit { try? FileManager.default.removeItem(at: secret) }

    /// The configuration that workers need to verify the tokens.
    var configuration: [String: String] {
        ["auth.mode": "jwt", "auth.secret_file": secret.path, "auth.leeway": Self.leeway, "access.watch": "anyone"]
    }

    /// - Parameter areRefreshed: whether tokens are short-lived. Otherwise they are valid for longer than the round, also
    ///   for workers whose clocks are up to 12 h off.
    func tokens(areRefreshed: Bool) -> Harness.TokenSource {
        areRefreshed
            ? tokens(validFor: Self.lifetime, refreshedAfter: Self.refreshedAfter)
            : tokens(validFor: Self.clockErrors, since: Self.clockErrors, refreshedAfter: nil)
    }

    /// - Parameters:
    ///   - lifetime: from now.
    ///   - age: how long ago the tokens say that they were issued.
    func tokens(
        validFor lifetime: Duration, since age: Duration = .zero, refreshedAfter: Duration?
    ) -> Harness.TokenSource {
        Harness.TokenSource(refreshedAfter: refreshedAfter) { [key] user, device in
            let now = Int(Date().timeIntervalSince1970)
            let claims = Claims(
                sub: user.text, device: device.text, iat: now - Int(age.components.seconds),
                exp: now + Int(lifetime.components.seconds))
            return Self.sign(claims, with: key)
        }
    }

    private struct Claims: Encodable {
        let sub: String
        let device: String
        let iat: Int
        let exp: Int
        let join = "*"
    }

    private static func sign(_ claims: Claims, with key: SymmetricKey) -> String {
        guard let json = try? JSONEncoder().encode(claims) else { preconditionFailure("names and numbers are JSON") }
        let signed = base64URL(Data(#"{"alg":"HS256","typ":"JWT"}"#.utf8)) + "." + base64URL(json)
        let signature = HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: key)
        return signed + "." + base64URL(Data(signature))
    }

    private static func base64URL(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
