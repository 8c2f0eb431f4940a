// The keys that verify tokens: secrets for HS256, and public keys from JSON Web Key Sets (RFC 7517, RFC 7518 §6, RFC
// 8037) for RS256, PS256, ES256, ES384 and EdDSA.

import Crypto
import CryptoExtras
import Foundation
import RollcallModel
import RollcallShards

/// Keys, each bound to one algorithm. A token's header selects among keys, but never changes how a key is used. So
/// `none` never matches, and a public key is never used as an HMAC secret.
struct VerificationKeys: Sendable {
    enum Algorithm: String, Sendable {
        case hs256 = "HS256"
        case rs256 = "RS256"
        case ps256 = "PS256"
        case es256 = "ES256"
        case es384 = "ES384"
        case edDSA = "EdDSA"
    }

    struct Key: Sendable {
        /// The `kid` of a key set entry, if it has one; the secret has none.
        var id: String?
        var algorithm: Algorithm
        /// Whether a signature is valid. A signature of a wrong length is not.
        var verifies: @Sendable (_ signature: Data, _ signed: ArraySlice<UInt8>) -> Bool
    }

    private var keys: [KeySource: [Key]] = [:]

    /// Returns the keys that may have signed a token with this header.
    func candidates(algorithm: String, id: String?) -> [Key] {
        KeySource.allCases.flatMap(keys(of:)).filter {
            $0.algorithm.rawValue == algorithm && ($0.id == nil || id == nil || TextBytes.areSame($0.id, id))
        }
    }

    /// Whether a key set may have keys for this algorithm.
    static func isPublic(_ algorithm: String) -> Bool {
        Algorithm(rawValue: algorithm).map { $0 != .hs256 } ?? false
    }

    func keys(of source: KeySource) -> [Key] { keys[source] ?? [] }

    /// Replaces all keys of this source.
    mutating func replace(_ source: KeySource, with keys: [Key]) {
        self.keys[source] = keys
    }
}

extension VerificationKeys {
    /// The keys at startup: those of the files. The URL's keys are fetched once the worker runs, so that it can start
    /// while the issuer is down; tokens wait for them.
    init(_ configuration: WorkerConfiguration.Auth) throws(ConfigurationProblems) {
        let contents: [(KeySource, [UInt8]?)] = [
            (.secret, configuration.secret?.bytes), (.previousSecret, configuration.previousSecret?.bytes),
            (.jwksFile, configuration.jwks.map { Array($0.utf8) }),
        ]
        var problems: [ConfigurationProblem] = []
        for case (let source, let contents?) in contents {
            do throws(UnusableFile) {
                keys[source] = try source.keys(in: contents)
            } catch {
                problems.append(ConfigurationProblem(.unusableFile, error.key, error.reason))
            }
        }
        if keys.values.allSatisfy(\.isEmpty), problems.isEmpty, configuration.jwksURL == nil {
            problems.append(ConfigurationProblem(.missing, "auth.secret_file", "checking tokens needs a key"))
        }
        guard problems.isEmpty else { throw ConfigurationProblems(problems) }
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

    /// More than any real set has during key rotation. A token without a key ID may be checked against each.
    private static let mostKeys = 100

    /// Parses the source's contents. An empty file for the previous secret means that there is none. In a key set,
    /// entries of other kinds are ignored, as RFC 7517 §5 requires; a broken entry of a supported kind is an error.
    func keys(in contents: [UInt8]) throws(UnusableFile) -> [VerificationKeys.Key] {
        switch self {
        case .secret, .previousSecret:
            let secret = contents.trimmingWhiteSpace
            if secret.isEmpty, self == .previousSecret { return [] }
            guard secret.count >= WorkerConfiguration.Auth.shortestSecret else {
                throw UnusableFile(
                    setting, "a secret needs at least \(WorkerConfiguration.Auth.shortestSecret) bytes")
            }
            let key = SymmetricKey(data: secret)
            return [
                VerificationKeys.Key(id: nil, algorithm: .hs256) { signature, signed in
                    HMAC<SHA256>.isValidAuthenticationCode(signature, authenticating: signed, using: key)
                }
            ]
        case .jwksFile, .jwksURL:
            guard let set = try? JSONDecoder().decode(KeySet.self, from: Data(contents)) else {
                throw UnusableFile(setting, "this is not a JSON Web Key Set, {\"keys\":[…]}")
            }
            guard set.keys.count <= Self.mostKeys else {
                throw UnusableFile(setting, "the set has more than \(Self.mostKeys) keys")
            }
            var keys: [VerificationKeys.Key] = []
            for entry in set.keys {
                guard let algorithm = entry.algorithm else { continue }
                guard let key = try? entry.key(algorithm) else {
                    throw UnusableFile(
                        setting, "the \(algorithm.rawValue) key with the kid \"\(entry.text["kid"] ?? "")\" is broken")
                }
                keys.append(key)
            }
            guard !keys.isEmpty else {
                throw UnusableFile(setting, "the set has no public key for RS256, PS256, ES256, ES384 or EdDSA")
            }
            return keys
        }
    }
}

private struct KeySet: Decodable {
    let keys: [Entry]

    /// An entry of the set. Of its members only those of public keys are read: a private key that is not stored cannot
    /// leak.
    struct Entry: Decodable {
        /// The members that are texts.
        private(set) var text: [String: String] = [:]
        /// Whether a member that says what the key is for is no text: such an entry is of another kind.
        private var isStrange = false

        private enum Member: String, CodingKey, CaseIterable { case kty, use, alg, kid, crv, n, e, x, y }

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: Member.self)
            for member in Member.allCases where members.contains(member) {
                do {
                    text[member.rawValue] = try members.decodeIfPresent(String.self, forKey: member)
                } catch {
                    if ![.n, .e, .x, .y].contains(member) { isStrange = true }
                }
            }
        }

        /// The key's only algorithm: the declared one if it matches the key type and curve, otherwise the default for
        /// these; `nil` if it is not supported, or not for signatures.
        var algorithm: VerificationKeys.Algorithm? {
            let fitting: [VerificationKeys.Algorithm] =
                switch (text["kty"], text["crv"]) {
                case ("RSA", _): [.rs256, .ps256]
                case ("EC", "P-256"): [.es256]
                case ("EC", "P-384"): [.es384]
                case ("OKP", "Ed25519"): [.edDSA]
                default: []
                }
            guard !isStrange, text["use"] ?? "sig" == "sig" else { return nil }
            guard let declared = text["alg"] else { return fitting.first }
            return fitting.first { $0.rawValue == declared }
        }

        func key(_ algorithm: VerificationKeys.Algorithm) throws -> VerificationKeys.Key {
            VerificationKeys.Key(
                id: text["kid"].flatMap { $0.isEmpty ? nil : $0 }, algorithm: algorithm,
                verifies: try verification(algorithm))
        }

        private func verification(
            _ algorithm: VerificationKeys.Algorithm
        ) throws -> @Sendable (Data, ArraySlice<UInt8>) -> Bool {
            switch algorithm {
            case .hs256: throw CryptoKitError.incorrectParameterSize
            case .rs256, .ps256:
                // At least 2,048 bits (RFC 7518 §3.3); the library refuses shorter ones.
                let key = try _RSA.Signing.PublicKey(n: number("n"), e: number("e"))
                let padding: _RSA.Signing.Padding = algorithm == .ps256 ? .PSS : .insecurePKCS1v1_5
                return { signature, signed in
                    key.isValidSignature(
                        _RSA.Signing.RSASignature(rawRepresentation: signature), for: SHA256.hash(data: signed),
                        padding: padding)
                }
            case .es256:
                let key = try P256.Signing.PublicKey(rawRepresentation: number("x", 32) + number("y", 32))
                return { signature, signed in
                    guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else {
                        return false
                    }
                    return key.isValidSignature(signature, for: signed)
                }
            case .es384:
                let key = try P384.Signing.PublicKey(rawRepresentation: number("x", 48) + number("y", 48))
                return { signature, signed in
                    guard let signature = try? P384.Signing.ECDSASignature(rawRepresentation: signature) else {
                        return false
                    }
                    return key.isValidSignature(signature, for: signed)
                }
            case .edDSA:
                let key = try Curve25519.Signing.PublicKey(rawRepresentation: number("x", 32))
                return { key.isValidSignature($0, for: $1) }
            }
        }

        /// A number of the key, of exactly so many bytes.
        private func number(_ name: String, _ size: Int? = nil) throws -> Data {
            guard let number = text[name].flatMap({ Base64URL.decoded($0.utf8) }), !number.isEmpty,
                size.map({ $0 == number.count }) ?? true
            else { throw CryptoKitError.incorrectParameterSize }
            return number
        }
    }
}

/// base64url without padding (RFC 4648 §5).
enum Base64URL {
    static func decoded(_ text: some Collection<UInt8>) -> Data? {
        var base64 = Data(capacity: text.count + 3)
        for byte in text {
            switch byte {
            case UInt8(ascii: "-"): base64.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): base64.append(UInt8(ascii: "/"))
            case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): return nil
            default: base64.append(byte)
            }
        }
        base64.append(contentsOf: repeatElement(UInt8(ascii: "="), count: (4 - text.count % 4) % 4))
        return Data(base64Encoded: base64)
    }

    static func text(_ bytes: Data) -> String {
        bytes.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
