// Public keys from a JSON Web Key Set (RFC 7517): RS256, PS256, ES256, ES384 and EdDSA. Entries of other kinds are
// passed over, as that standard asks, for a set serves more readers than us; one of our kinds that is broken is an error.

import JWTKit

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension VerificationKeys {
    /// More than any set has while keys are being changed; each may be tried for a token without a key id.
    private static let mostKeys = 100

    /// What the keys of a set may be for.
    static let publicAlgorithms: Set = ["RS256", "PS256", "ES256", "ES384", "EdDSA"]

    /// - Throws: ``UnusableKey`` if the text is no key set, has a broken key, or none that can be used.
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
        // Checking signatures needs no private part, and what is not kept cannot leak.
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
        /// `nil` for a kind of key that we do not know.
        var jwk: JWK?

        enum CodingKeys: CodingKey { case use }

        init(from decoder: any Decoder) throws {
            use = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(String.self, forKey: .use)
            jwk = try? JWK(from: decoder)
        }
    }
}

extension JWK {
    /// The one algorithm that the key is for: what it says, if that goes with its type and curve, else the usual one of
    /// these; `nil` if that is none of ours.
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
