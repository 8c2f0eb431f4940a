// The keys that tokens may be signed with. jwt-kit keeps keys in an actor; they are taken out of it once, when they are
// read, so that checking a token awaits nothing on the way into a connection.

import JWTKit
import RollcallModel

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

    private var keys: [KeySource: [Key]] = [:]

    var isEmpty: Bool { keys.values.allSatisfy(\.isEmpty) }

    /// The keys that might have signed a token with this header.
    func candidates(algorithm: String, id: String?) -> [Key] {
        KeySource.allCases.flatMap(keys(of:)).filter {
            $0.algorithm.name == algorithm && ($0.id == nil || id == nil || TextBytes.areSame($0.id, id))
        }
    }

    func keys(of source: KeySource) -> [Key] { keys[source] ?? [] }

    /// From now on these are the keys of this source, and no others.
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

/// Where keys come from; each source is replaced whole when it changes.
enum KeySource: CaseIterable {
    case secret, previousSecret, jwksFile, jwksURL

    /// The key of the configuration that names it.
    var setting: String {
        switch self {
        case .secret: "auth.secret_file"
        case .previousSecret: "auth.previous_secret_file"
        case .jwksFile: "auth.jwks_file"
        case .jwksURL: "auth.jwks_url"
        }
    }

    /// The keys in what the source holds. An empty file of the previous secret says that there is none.
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
