// The keys that tokens may be signed with. jwt-kit keeps keys in an actor; they are taken out of it once, at the
// start, so that checking a token awaits nothing on the way into a connection.

import JWTKit

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Keys, each bound to one algorithm: a token chooses among keys by its header, never how a key is used.
struct VerificationKeys: Sendable {
    /// A key is what the set or the secret made it, so neither `none` nor a public key taken for an HMAC secret can
    /// ever match.
    struct Key: Sendable {
        /// The `kid` of a key set's entry; the secret has none, and an entry need not.
        var id: String?
        var algorithm: any JWTAlgorithm
    }

    private(set) var keys: [Key] = []

    /// The keys that might have signed a token with this header.
    func candidates(algorithm: String, id: String?) -> [Key] {
        keys.filter { $0.algorithm.name == algorithm && ($0.id == nil || id == nil || $0.id == id) }
    }

    mutating func add(secret: Secret) async throws(UnusableKey) {
        guard secret.bytes.count >= WorkerConfiguration.Auth.shortestSecret else {
            throw UnusableKey("a secret needs at least \(WorkerConfiguration.Auth.shortestSecret) bytes")
        }
        let collection = JWTKeyCollection()
        await collection.add(hmac: HMACKey(from: secret.bytes), digestAlgorithm: .sha256)
        do {
            keys.append(Key(id: nil, algorithm: try await collection.getKey()))
        } catch {
            throw UnusableKey("the secret cannot be used: \(error)")
        }
    }

    mutating func add(jwks: String) async throws(UnusableKey) {
        keys += try await Self.publicKeys(jwks: jwks)
    }
}

/// Why a key cannot be used.
struct UnusableKey: Error, Hashable, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
