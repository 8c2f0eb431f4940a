// The keys that verify tokens: secrets for HS256, and public keys from JSON Web Key Sets (RFC 7517, RFC 7518 §6, RFC
// 8037) for RS256, PS256, ES256, ES384 and EdDSA.

import Crypto
import CryptoExtras
import Foundation
import RollcallProtocol
import RollcallServer

/// Keys, each bound to one algorithm. A token's header selects among keys, but never changes how a key is used. So
/// `none` never matches, and a public key is never used as an HMAC secret.
struct VerificationKeys: Sendable {
    enum Algorithm: String, Sendable, CaseIterable {
        case hs256 = "HS256"
        case rs256 = "RS256"
        case ps256 = "PS256"
        case es256 = "ES256"
        case es384 = "ES384"
        case edDSA = "EdDSA"
    }

    struct Key: Sendable {
        /// The `kid` of a key set entry, if it has one; the secret has none.
        var id: ByteString?
        var algorithm: Algorithm
        /// Whether a signature is valid. A signature of a wrong length is not.
        var verifies: @Sendable (_ signature: Data, _ signed: ArraySlice<UInt8>) -> Bool
    }

    private var keys: [KeySource: [Key]] = [:]
    /// Whether public keys are configured, although they may not have been read yet.
    private var hasKeySet = false
    /// The only algorithms that are accepted; `nil` for all for which there are keys.
    private var accepted: Set<Algorithm>?

    /// Returns the keys that may have signed a token with this header.
    func candidates(_ algorithm: Algorithm, id: ByteString?) -> [Key] {
        KeySource.allCases.flatMap(keys(of:)).filter {
            $0.algorithm == algorithm && ($0.id == nil || id == nil || $0.id == id)
        }
    }

    /// Whether there are keys for this algorithm, or the key sets may have some later.
    func mayHave(_ algorithm: Algorithm) -> Bool {
        guard accepted?.contains(algorithm) != false else { return false }
        let kinds = KeySource.allCases.flatMap(keys(of:)).map(\.algorithm)
        return algorithm == .hs256 ? kinds.contains(.hs256) : hasKeySet || kinds.contains { $0 != .hs256 }
    }

    func keys(of source: KeySource) -> [Key] { keys[source] ?? [] }

    /// The names of all keys, and the algorithms of those without, for the log.
    var names: String {
        let names = KeySource.allCases.flatMap(keys(of:)).map { $0.id?.shown ?? $0.algorithm.rawValue }
        return names.isEmpty ? "none" : names.prefix(5).joined(separator: ", ") + (names.count > 5 ? ", …" : "")
    }

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
        hasKeySet = configuration.jwks != nil || configuration.jwksURL != nil
        let algorithms = configuration.algorithms.compactMap(Algorithm.init)
        accepted = algorithms.isEmpty ? nil : Set(algorithms)
        var problems: [ConfigurationProblem] = []
        for case (let source, let contents?) in contents {
            do throws(UnusableFile) {
                keys[source] = try source.keys(in: contents).keys
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
    ///
    /// Limit: keys of a key set that count.
    private static let mostKeys = 100

    /// Parses the source's contents. An empty file for the previous secret means that there is none. In a key set,
    /// entries of other kinds are ignored, and entries that cannot be used are skipped (RFC 7517 §5).
    func keys(in contents: [UInt8]) throws(UnusableFile) -> KeysRead {
        switch self {
        case .secret, .previousSecret:
            let secret = contents.trimmingWhiteSpace
            if secret.isEmpty, self == .previousSecret { return KeysRead() }
            guard secret.count >= WorkerConfiguration.Auth.shortestSecret else {
                throw UnusableFile(
                    setting, "a secret needs at least \(WorkerConfiguration.Auth.shortestSecret) bytes")
            }
            if let kind = MisplacedKey(in: secret) { throw UnusableFile(setting, kind.sentence) }
            let key = SymmetricKey(data: secret)
            return KeysRead(keys: [
                VerificationKeys.Key(id: nil, algorithm: .hs256) { signature, signed in
                    HMAC<SHA256>.isValidAuthenticationCode(signature, authenticating: signed, using: key)
                }
            ])
        case .jwksFile, .jwksURL:
            guard let set = try? KeySet(jsonText: contents) else {
                throw UnusableFile(setting, "this is not a JSON Web Key Set, {\"keys\":[…]}")
            }
            var read = KeysRead()
            for (number, entry) in set.entries.enumerated() {
                switch entry {
                case .key(let key) where read.keys.count < Self.mostKeys: read.keys.append(key)
                case .key: read.skipped.append("entry \(number + 1): the set has more than \(Self.mostKeys) keys")
                case .unusable(let reason): read.skipped.append("entry \(number + 1): \(reason)")
                case .other: break
                }
            }
            guard !read.keys.isEmpty else {
                let reasons = read.skipped.first.map { " (\($0))" } ?? ""
                throw UnusableFile(
                    setting, "the set has no public key for RS256, PS256, ES256, ES384 or EdDSA\(reasons)")
            }
            return read
        }
    }
}

/// The keys of a source, and why entries of a key set are not among them.
struct KeysRead: Sendable {
    var keys: [VerificationKeys.Key] = []
    var skipped: [String] = []
}

private struct KeySet: JSONReadable {
    let entries: [Entry]

    init(json: JSONValue) throws(UnexpectedJSON) { entries = try json.field("keys") }

    enum Entry: JSONReadable {
        case key(VerificationKeys.Key)
        case unusable(String)
        /// For encryption, or of a kind or for an algorithm that is not supported.
        case other

        init(json: JSONValue) {
            do throws(UnexpectedJSON) {
                let entry = try PublicKey(json: json)
                guard let algorithm = entry.algorithm else {
                    self = .other
                    return
                }
                do {
                    self = .key(try entry.key(algorithm))
                } catch {
                    self = .unusable("the \(algorithm.rawValue) key \"\(entry.kid?.excerpt ?? "")\" is broken")
                }
            } catch {
                self = .unusable("\(error)")
            }
        }
    }

    /// An entry with a public key. Of its members only these are read: a private key that is not stored cannot leak.
    struct PublicKey: JSONReadable {
        let kid: ByteString?
        private let type: ByteString
        private let use: ByteString?
        private let declared: ByteString?
        private let curve: ByteString?
        private let numbers: (n: ByteString?, e: ByteString?, x: ByteString?, y: ByteString?)

        init(json: JSONValue) throws(UnexpectedJSON) {
            kid = try json.optionalField("kid")
            type = try json.field("kty")
            use = try json.optionalField("use")
            declared = try json.optionalField("alg")
            curve = try json.optionalField("crv")
            numbers = (
                try json.optionalField("n"), try json.optionalField("e"), try json.optionalField("x"),
                try json.optionalField("y")
            )
        }

        /// The key's only algorithm: the declared one if it matches the key type and curve, otherwise the default for
        /// these; `nil` if it is not supported, or not for signatures.
        var algorithm: VerificationKeys.Algorithm? {
            let fitting: [VerificationKeys.Algorithm] =
                switch (type, curve) {
                case ("RSA", _): [.rs256, .ps256]
                case ("EC", "P-256"): [.es256]
                case ("EC", "P-384"): [.es384]
                case ("OKP", "Ed25519"): [.edDSA]
                default: []
                }
            guard use ?? "sig" == "sig" else { return nil }
            guard let declared else { return fitting.first }
            return VerificationKeys.Algorithm(word: declared).flatMap { fitting.contains($0) ? $0 : nil }
        }

        func key(_ algorithm: VerificationKeys.Algorithm) throws -> VerificationKeys.Key {
            VerificationKeys.Key(
                id: kid.flatMap { $0.isEmpty ? nil : $0 }, algorithm: algorithm,
                verifies: try verification(algorithm))
        }

        private func verification(
            _ algorithm: VerificationKeys.Algorithm
        ) throws -> @Sendable (Data, ArraySlice<UInt8>) -> Bool {
            switch algorithm {
            case .hs256: throw CryptoKitError.incorrectParameterSize
            case .rs256, .ps256:
                // At least 2,048 bits (RFC 7518 §3.3); the library refuses shorter ones.
                let key = try _RSA.Signing.PublicKey(n: bytes(numbers.n), e: bytes(numbers.e))
                let padding: _RSA.Signing.Padding = algorithm == .ps256 ? .PSS : .insecurePKCS1v1_5
                return { signature, signed in
                    key.isValidSignature(
                        _RSA.Signing.RSASignature(rawRepresentation: signature), for: SHA256.hash(data: signed),
                        padding: padding)
                }
            case .es256:
                let key = try P256.Signing.PublicKey(rawRepresentation: bytes(numbers.x, 32) + bytes(numbers.y, 32))
                return { signature, signed in
                    guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else {
                        return false
                    }
                    return key.isValidSignature(signature, for: signed)
                }
            case .es384:
                let key = try P384.Signing.PublicKey(rawRepresentation: bytes(numbers.x, 48) + bytes(numbers.y, 48))
                return { signature, signed in
                    guard let signature = try? P384.Signing.ECDSASignature(rawRepresentation: signature) else {
                        return false
                    }
                    return key.isValidSignature(signature, for: signed)
                }
            case .edDSA:
                let key = try Curve25519.Signing.PublicKey(rawRepresentation: bytes(numbers.x, 32))
                return { key.isValidSignature($0, for: $1) }
            }
        }

        /// A number of the key, of exactly so many bytes.
        private func bytes(_ text: ByteString?, _ size: Int? = nil) throws -> Data {
            guard let number = text.flatMap({ Base64URL.decoded($0.utf8) }), !number.isEmpty,
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
