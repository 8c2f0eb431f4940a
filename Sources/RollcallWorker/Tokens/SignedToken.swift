// Token parsing (RFC 7515 §7.1, RFC 7519 §4.1). Of the input nothing is trusted, and only the named members are read,
// before a signature has been checked.

import Foundation
import RollcallProtocol
import RollcallServer

/// The three parts of a token. Trust nothing in it before ``claims(signedBy:name:)`` returns.
struct SignedToken {
    /// The header, which says how the token was signed.
    struct Header: JSONReadable {
        var alg: ByteString
        var kid: ByteString?
        /// The media type: what the token was issued for.
        var typ: ByteString?
        /// Whether the token has extensions that must be understood (RFC 7515 §4.1.11). None is supported.
        var isCritical: Bool

        init(json: JSONValue) throws(UnexpectedJSON) {
            alg = try json.field("alg")
            kid = try json.optionalField("kid")
            typ = try json.optionalField("typ")
            isCritical = try json.has("crit")
        }

        /// Whether the token may open a session (RFC 8725 §3.11). An issuer may sign other things with the same keys,
        /// and those do not identify a caller. The prefix `application/` is optional (RFC 7515 §4.1.9).
        var isForSessions: Bool {
            guard let typ else { return true }
            return typ.isWord("jwt") || typ.isWord("at+jwt") || typ.isWord("application/jwt")
                || typ.isWord("application/at+jwt")
        }
    }

    private let header: Header
    private let payload: Data
    private let signature: Data
    /// The signed bytes: the first two parts as sent.
    private let signed: ArraySlice<UInt8>

    init(_ token: ByteString) throws(AuthenticationError) {
        guard token.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
            throw AuthenticationError(
                .malformed, "the token has white space or other bytes that no token has: send it alone, without Bearer")
        }
        let bytes = Array(token.utf8)
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64URL.decoded(parts[0]), let payload = Base64URL.decoded(parts[1]),
            let signature = Base64URL.decoded(parts[2])
        else { throw AuthenticationError(.malformed, "the token is not three parts of base64url: it is no JWT") }
        do {
            self.header = try Header(jsonText: header)
        } catch {
            throw AuthenticationError(.malformed, "the token's header is wrong: \(error)")
        }
        guard !self.header.isCritical else {
            throw AuthenticationError(.malformed, "the token's header has crit, which is not supported")
        }
        self.payload = payload
        self.signature = signature
        signed = bytes[..<parts[1].endIndex]
    }

    /// Verifies the signature and returns the claims.
    ///
    /// - Parameters:
    ///   - user: the claim that says which user it is.
    ///   - name: the claim with the user's name; `nil` for none.
    func claims(
        signedBy keys: VerificationKeys, user: ByteString = "sub", name: ByteString? = nil
    ) throws(AuthenticationError) -> Claims {
        guard let algorithm = VerificationKeys.Algorithm(word: header.alg), keys.mayHave(algorithm) else {
            throw AuthenticationError(
                .wrongAlgorithm, "this worker has no keys for the token's alg",
                detail: "alg \(header.alg.shown), keys \(keys.names)")
        }
        let candidates = keys.candidates(algorithm, id: header.kid)
        guard candidates.contains(where: { $0.verifies(signature, signed) }) else {
            // All keys were tried, or the one that the token names. Another one may not have been read yet.
            let isTried = !candidates.isEmpty && (header.kid == nil || candidates.contains { $0.id == header.kid })
            let detail = "kid \(header.kid?.shown ?? "none"), alg \(algorithm.rawValue), keys \(keys.names)"
            throw algorithm == .hs256 || isTried
                ? AuthenticationError(.badSignature, "the token's signature is wrong", detail: detail)
                : AuthenticationError(
                    .unknownKey, "this worker does not have the token's key, or not yet", detail: detail)
        }
        do throws(AuthenticationError) {
            return try claims(user: user, name: name)
        } catch {
            var error = error
            error.isSigned = true
            throw error
        }
    }

    /// What the token says of its issuer, before a signature was checked: it says which keys may check it.
    var allegedIssuer: ByteString? { payload.withUnsafeBytes { try? JSONValue(object: $0)?.optionalField("iss") } }

    private func claims(user: ByteString, name: ByteString?) throws(AuthenticationError) -> Claims {
        guard header.isForSessions else {
            throw AuthenticationError(
                .wrongType, "the token's typ is neither JWT nor at+jwt", detail: "typ \(header.typ?.shown ?? "")")
        }
        do {
            var claims = try Claims(jsonText: payload)
            claims.user = payload.withUnsafeBytes { JSONValue(object: $0)?.text(at: user, orNumber: true) }
            claims.profile = Profile(
                name: name.flatMap { name in payload.withUnsafeBytes { JSONValue(object: $0)?.text(at: name) } })
            return claims
        } catch {
            throw AuthenticationError(.malformed, "the token's claims are wrong: \(error)")
        }
    }
}

/// The claims that Rollcall uses. ``TokenRules`` checks them, because it knows the time.
struct Claims: JSONReadable {
    /// Of the claim that says which user it is.
    var user: ByteString?
    /// Seconds since 1970, possibly fractional.
    var exp: Double?
    var nbf: Double?
    var iat: Double?
    var iss: ByteString?
    var aud: Audience?
    var device: ByteString?
    /// The error if it is of another form: each has a rule of its own.
    var join: Result<JoinRight?, UnexpectedJSON>
    var watch: Result<WatchRight?, UnexpectedJSON>
    /// What it says of the user for others to see.
    var profile = Profile()

    init(json: JSONValue) throws(UnexpectedJSON) {
        iss = try json.optionalField("iss")
        exp = try json.optionalField("exp")
        nbf = try json.optionalField("nbf")
        iat = try json.optionalField("iat")
        (aud, device) = (try json.optionalField("aud"), try json.optionalField("device"))
        join = Result { () throws(UnexpectedJSON) in try json.optionalField("join") }
        watch = Result { () throws(UnexpectedJSON) in try json.optionalField("watch") }
    }

    /// One name or several. An empty list is allowed and matches no audience.
    struct Audience: JSONReadable {
        var names: [ByteString]

        init(json: JSONValue) throws(UnexpectedJSON) {
            names = json.isText ? [try json.text()] : try json.list()
        }
    }
}
