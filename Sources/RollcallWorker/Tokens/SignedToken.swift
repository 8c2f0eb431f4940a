// Token parsing (RFC 7515 §7.1, RFC 7519 §4.1). Of the input nothing is trusted, and only the named members are read,
// before a signature has been checked.

import Foundation
import RollcallModel
import RollcallShards

/// The three parts of a token. Trust nothing in it before ``claims(signedBy:)`` returns.
struct SignedToken {
    /// The header, which says how the token was signed.
    struct Header: Decodable {
        var alg: String
        var kid: String?
        /// The media type: what the token was issued for.
        var typ: String?
        /// Whether the token has extensions that must be understood (RFC 7515 §4.1.11). None is supported.
        var isCritical: Bool

        enum CodingKeys: CodingKey { case alg, kid, typ, crit }

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            alg = try fields.decode(String.self, forKey: .alg)
            kid = try fields.decodeIfPresent(String.self, forKey: .kid)
            typ = try fields.decodeIfPresent(String.self, forKey: .typ)
            isCritical = fields.contains(.crit)
        }

        /// Whether the token may open a session (RFC 8725 §3.11). An issuer may sign other things with the same keys,
        /// and those do not identify a caller. The prefix `application/` is optional (RFC 7515 §4.1.9).
        var isForSessions: Bool {
            guard let type = typ?.lowercased() else { return true }
            let prefix = "application/"
            return ["jwt", "at+jwt"].contains(type.hasPrefix(prefix) ? String(type.dropFirst(prefix.count)) : type)
        }
    }

    private let header: Header
    private let payload: Data
    private let signature: Data
    /// The signed bytes: the first two parts as sent.
    private let signed: ArraySlice<UInt8>

    init(_ token: String) throws(AuthenticationError) {
        let bytes = Array(token.utf8)
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64URL.decoded(parts[0]), let payload = Base64URL.decoded(parts[1]),
            let signature = Base64URL.decoded(parts[2]),
            let header = try? JSONDecoder().decode(Header.self, from: header)
        else { throw AuthenticationError(.malformed, "the token is not a JSON Web Token") }
        guard !header.isCritical else {
            throw AuthenticationError(.malformed, "the token's header has crit, which is not supported")
        }
        self.header = header
        self.payload = payload
        self.signature = signature
        signed = bytes[..<parts[1].endIndex]
    }

    /// Verifies the signature and returns the claims.
    func claims(signedBy keys: VerificationKeys) throws(AuthenticationError) -> Claims {
        let candidates = keys.candidates(algorithm: header.alg, id: header.kid)
        guard !candidates.isEmpty else {
            var error = AuthenticationError(.unknownKey, "this worker has no key for the token's alg and kid")
            error.mayBeNewKey = VerificationKeys.isPublic(header.alg)
            throw error
        }
        guard candidates.contains(where: { $0.verifies(signature, signed) }) else {
            var error = AuthenticationError(.badSignature, "the token's signature is wrong")
            // Keys without an id were tried. The key that the token names may be another, which was not read yet.
            let isNamed = header.kid == nil || candidates.contains { TextBytes.areSame($0.id, header.kid) }
            error.mayBeNewKey = !isNamed && VerificationKeys.isPublic(header.alg)
            throw error
        }
        guard header.isForSessions else {
            throw AuthenticationError(.wrongType, "the token's typ is neither JWT nor at+jwt")
        }
        guard let claims = try? JSONDecoder().decode(Claims.self, from: payload) else {
            throw AuthenticationError(.malformed, "a claim of the token has the wrong type")
        }
        return claims
    }
}

/// The claims that Rollcall uses. ``TokenRules`` checks them, because it knows the time.
struct Claims: Decodable {
    var sub: String?
    /// Seconds since 1970, possibly fractional.
    var exp: Double?
    var nbf: Double?
    var iat: Double?
    var iss: String?
    var aud: Audience?
    var device: String?

    /// One name or several. An empty list is allowed and matches no audience.
    struct Audience: Decodable {
        var names: [String]

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let name = try? container.decode(String.self) {
                names = [name]
            } else {
                names = try container.decode([String].self)
            }
        }
    }
}
