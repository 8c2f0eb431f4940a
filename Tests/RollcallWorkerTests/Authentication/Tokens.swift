import Crypto
import Foundation

/// Tokens assembled by hand, so that tests can create invalid ones too; only the signing uses a library.
enum Tokens {
    static let secret = "0123456789abcdef0123456789abcdef"

    /// Returns `HEADER.PAYLOAD.SIGNATURE`, signed with HMAC-SHA-256 whatever the header says.
    static func hs256(
        header: String = #"{"alg":"HS256","typ":"JWT"}"#, _ payload: String, secret: String = secret
    ) throws -> String {
        signed(header: header, payload) {
            Data(HMAC<SHA256>.authenticationCode(for: $0, using: SymmetricKey(data: Data(secret.utf8))))
        }
    }

    static func es256(_ header: String, _ payload: String, by key: P256.Signing.PrivateKey) throws -> String {
        try signed(header: header, payload) { try key.signature(for: $0).rawRepresentation }
    }

    static func signed(header: String, _ payload: String, by sign: (Data) throws -> Data) rethrows -> String {
        let input = parts(header, payload)
        return input + "." + base64URL(try sign(Data(input.utf8)))
    }

    /// The two parts that are signed.
    static func parts(_ header: String, _ payload: String) -> String {
        base64URL(Data(header.utf8)) + "." + base64URL(Data(payload.utf8))
    }

    static func base64URL(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// The entry of a key set.
    static func jwk(_ key: P256.Signing.PrivateKey, _ rest: String = "") -> String {
        ellipticJWK("P-256", key.publicKey.rawRepresentation, rest)
    }

    static func jwk(_ key: P384.Signing.PrivateKey, _ rest: String = "") -> String {
        ellipticJWK("P-384", key.publicKey.rawRepresentation, rest)
    }

    private static func ellipticJWK(_ curve: String, _ point: Data, _ rest: String) -> String {
        let (x, y) = (base64URL(point.prefix(point.count / 2)), base64URL(point.suffix(point.count / 2)))
        return #"{"kty":"EC","crv":"\#(curve)","x":"\#(x)","y":"\#(y)"\#(rest)}"#
    }
}
