// The keys that verify tokens. jwt-kit keeps keys in an actor. Reading them out once, when they are loaded, makes
// verification synchronous.

import JWTKit
import RollcallModel
import RollcallShards

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Keys, each bound to one algorithm. A token's header selects among keys, but never changes how a key is used.
struct VerificationKeys: Sendable {
    /// The algorithm is fixed by the key set or the secret. So `none` never matches, and a public key is never used as
    /// an HMAC secret.
    struct Key: Sendable {
        /// The `kid` of a key set entry, if it has one; the secret has none.
        var id: String?
        var algorithm: any JWTAlgorithm
    }

    private var keys: [KeySource: [Key]] = [:]

    var isEmpty: Bool { keys.values.allSatisfy(\.isEmpty) }

    /// Returns the keys that may have signed a token with this header.
    func candidates(algorithm: String, id: String?) -> [Key] {
        KeySource.allCases.flatMap(keys(of:)).filter {
            $0.algorithm.name == algorithm && ($0.id == nil || id == nil || TextBytes.areSame($0.id, id))
        }
    }

    func keys(of source: KeySource) -> [Key] { keys[source] ?? [] }

    /// Replaces all keys of this source.
    mutating func replace(_ source: KeySource, with keys: [Key]) {
        self.keys[source] = keys
    }

    static func secretKeys(_ secret: Secret) async throws(UnusableKey) -> [Key] {
        guard secret.bytes.count >= WorkerConfiguration.Auth.shortestSecret else {
            throw UnusableKey("a secret needs at least \(WorkerConfiguration.Auth.shortestSecret) bytes")
        }
        let collection = JWTKeyCollection()
        await collection.add(hmac: HMACKey(from: secret.bytes), digestAlgorithm: .sha256)
        do {
            return [Key(id: nil, algorithm: try await collection.getKey())]
        } catch {
            throw UnusableKey("the secret cannot be used: \(error)")
        }
    }
}

/// Where keys come from. A source is replaced as a whole when it changes.
enum KeySource: CaseIterable {
    case secret, previousSecret, jwksFile, jwksURL

    /// The configuration key that names the source.
    var setting: String {
        switch self {
        case .secret: "auth.secret_file"
        case .previousSecret: "auth.previous_secret_file"
        case .jwksFile: "auth.jwks_file"
        case .jwksURL: "auth.jwks_url"
        }
    }

    /// Parses the source's contents. An empty file for the previous secret means that there is none.
    func keys(in contents: [UInt8]) async throws(UnusableKey) -> [VerificationKeys.Key] {
        switch self {
        case .secret: return try await VerificationKeys.secretKeys(Secret(contents.trimmingWhiteSpace))
        case .previousSecret:
            let secret = Secret(contents.trimmingWhiteSpace)
            return secret.bytes.isEmpty ? [] : try await VerificationKeys.secretKeys(secret)
        case .jwksFile, .jwksURL:
            return try await VerificationKeys.publicKeys(jwks: String(decoding: contents, as: UTF8.self))
        }
    }
}

/// Why a key cannot be used.
struct UnusableKey: Error, Hashable, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
