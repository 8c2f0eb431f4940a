import Foundation
import JWTKit

/// Tokens assembled by hand, so that tests can create invalid ones too; only the signing uses the library.
enum Tokens {
    static let secret = "0123456789abcdef0123456789abcdef"

    /// Returns `HEADER.PAYLOAD.SIGNATURE`, signed with HMAC-SHA-256 whatever the header says.
    static func hs256(
        header: String = #"{"alg":"HS256","typ":"JWT"}"#, _ payload: String, secret: String = secret
    ) async throws -> String {
        let keys = await JWTKeyCollection().add(hmac: HMACKey(from: secret), digestAlgorithm: .sha256)
        return try await signed(header: header, payload, by: keys)
    }

    /// A token signed with the only key in `keys`.
    static func signed(header: String, _ payload: String, by keys: JWTKeyCollection) async throws -> String {
        let input = parts(header, payload)
        return input + "." + base64URL(Data(try await keys.getKey().sign(Data(input.utf8))))
    }

    /// The two parts that are signed.
    static func parts(_ header: String, _ payload: String) -> String {
        base64URL(Data(header.utf8)) + "." + base64URL(Data(payload.utf8))
    }

    static func base64URL(_ data: Data) -> String {
        urlSafe(data.base64EncodedString())
    }

    static func urlSafe(_ base64: String) -> String {
        base64.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
