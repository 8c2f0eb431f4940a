// Public keys from a JSON Web Key Set (RFC 7517): RS256, PS256, ES256, ES384 and EdDSA. Entries of other kinds are
// ignored, as the standard requires; a broken entry of a supported kind is an error.

import JWTKit

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension VerificationKeys {
    /// More than any real set has during key rotation. A token without a key ID may be checked against each.
    private static let mostKeys = 100

    /// The supported algorithms.
    static let publicAlgorithms: Set = ["RS256", "PS256", "ES256", "ES384", "EdDSA"]

    /// - Throws: ``UnusableKey`` if the text is not a key set, or has a broken key or no usable key.
    static func publicKeys(jwks: String) async throws(UnusableKey) -> [Key] {
        guard let set = try? JSONDecoder().decode(KeySet.self, from: Data(jwks.utf8)) else {
            throw UnusableKey("this is not a JSON Web Key Set, {\"keys\":[…]}")
        }
        guard set.keys.count <= mostKeys else { throw UnusableKey("the set has more than \(mostKeys) keys") }
        var keys: [Key] = []
        for entry in set.keys {
            guard entry.use ?? "sig" == "sig", let jwk = entry.jwk, let algorithm = jwk.usableAlgorithm else {
                continue
            }
            keys.append(try await key(jwk, algorithm))
        }
        guard !keys.isEmpty else {
            throw UnusableKey("the set has no public key for RS256, PS256, ES256, ES384 or EdDSA")
        }
        return keys
    }

    private static func key(_ jwk: JWK, _ algorithm: JWK.Algorithm) async throws(UnusableKey) -> Key {
        var jwk = jwk
        jwk.algorithm = algorithm
        // Verifying needs no private key, and a key that is not stored cannot leak.
        jwk.privateExponent = nil
        let id = jwk.keyIdentifier ?? JWKIdentifier(string: "")
        jwk.keyIdentifier = id
        do {
            let key = try await JWTKeyCollection().add(jwk: jwk).getKey(for: id)
            return Key(id: id.string.isEmpty ? nil : id.string, algorithm: key)
        } catch {
            throw UnusableKey("the \(algorithm.rawValue) key with the kid \"\(id.string)\" is broken")
        }
    }

    private struct KeySet: Decodable {
        var keys: [Entry]
    }

    private struct Entry: Decodable {
        var use: String?
        /// `nil` for an unsupported kind of key.
        var jwk: JWK?

        enum CodingKeys: CodingKey { case use }

        init(from decoder: any Decoder) throws {
            use = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(String.self, forKey: .use)
            jwk = try? JWK(from: decoder)
        }
    }
}

extension JWK {
    /// The key's only algorithm: the declared one if it matches the key type and curve, otherwise the default for
    /// these; `nil` if it is not supported.
    fileprivate var usableAlgorithm: Algorithm? {
        let fitting: [Algorithm] =
            switch (keyType, curve) {
            case (.rsa, _): [.rs256, .ps256]
            case (.ecdsa, .ecdsa(.p256)): [.es256]
            case (.ecdsa, .ecdsa(.p384)): [.es384]
            case (.octetKeyPair, .eddsa(.ed25519)): [.eddsa]
            default: []
            }
        guard let algorithm else { return fitting.first }
        return fitting.first { $0 == algorithm }
    }
}
