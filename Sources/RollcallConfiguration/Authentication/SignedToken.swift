// Token parsing (RFC 7515 §7.1). jwt-kit's own parser is not used on untrusted input: version 5.7 traps on a header
// with a number beyond `Int` and on an empty audience list, before it checks any signature.

import JWTKit
import RollcallModel
import RollcallShards

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

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
        guard parts.count == 3, let header = Self.decoded(parts[0]), let payload = Self.decoded(parts[1]),
            let signature = Self.decoded(parts[2]),
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
            error.mayBeNewKey = VerificationKeys.publicAlgorithms.contains(header.alg)
            throw error
        }
        guard candidates.contains(where: { (try? $0.algorithm.verify(signature, signs: signed)) == true }) else {
            var error = AuthenticationError(.badSignature, "the token's signature is wrong")
            // Keys without an id were tried. The key that the token names may be another, which was not read yet.
            let isNamed = header.kid == nil || candidates.contains { TextBytes.areSame($0.id, header.kid) }
            error.mayBeNewKey = !isNamed && VerificationKeys.publicAlgorithms.contains(header.alg)
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

    /// Decodes base64url without padding (RFC 4648 §5).
    private static func decoded(_ part: ArraySlice<UInt8>) -> Data? {
        var base64 = Data(capacity: part.count + 3)
        for byte in part {
            switch byte {
            case UInt8(ascii: "-"): base64.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): base64.append(UInt8(ascii: "/"))
            case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): return nil
            default: base64.append(byte)
            }
        }
        base64.append(contentsOf: repeatElement(UInt8(ascii: "="), count: (4 - part.count % 4) % 4))
        return Data(base64Encoded: base64)
    }
}
