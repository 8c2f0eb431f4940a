// Why a client was not admitted. The close code tells the client to fix its token (4100), fetch a new one (4101), fix
// its hello (4102) or retry later (4002): what another key, configuration or clock makes good, of this worker or of the
// issuer, is retried.

package import RollcallCore
internal import RollcallProtocol

/// Why a token does not prove an identity.
public struct AuthenticationError: Error, Hashable, Sendable {
    /// Stable codes for programs to match.
    public enum Code: String, Sendable, CaseIterable {
        /// The token is not a JWT, has no `sub` or `exp`, or has a claim of the wrong type.
        ///
        /// Send the JWT alone, without white space and without the word `Bearer`.
        case malformed
        /// The configured keys cannot check the token's `alg`.
        ///
        /// Sign with an algorithm that the worker has a key for.
        case wrongAlgorithm = "wrong_algorithm"
        /// No configured key has the token's `alg` and `kid`. The worker may get the key later, since an issuer may
        /// sign with a new key before every worker has read it.
        ///
        /// Add a new key on all workers before you sign with it. The entry of a key for PS256 must contain
        /// `"alg":"PS256"`.
        case unknownKey = "unknown_key"
        /// The token's key is unknown, and the worker cannot fetch `auth.jwks_url` now, or not within `limits.hello`.
        ///
        /// Check that the worker reaches the URL, and that the server answers within 3 s.
        case keysUnavailable = "keys_unavailable"
        /// No key verifies the signature.
        ///
        /// Check that the issuer and the workers have the same key. White space at the end of a secret does not
        /// count.
        case badSignature = "bad_signature"
        /// The header's `typ` is neither `JWT` nor `at+jwt`: the issuer made the token for another purpose.
        ///
        /// Send the access token, or issue tokens with the `typ` `JWT`.
        case wrongType = "wrong_type"
        /// The token has expired.
        ///
        /// Get a new token. If it is new, the issuer's clock is behind.
        case expired
        /// Its `nbf` or `iat` is in the future by more than `auth.leeway`.
        ///
        /// Correct the issuer's clock.
        case notYetValid = "not_yet_valid"
        /// Its `exp` is more than `auth.max_lifetime` after `iat`, or it has no `iat`.
        ///
        /// Issue tokens with a shorter lifetime.
        case livesTooLong = "lives_too_long"
        /// Its `iss` is not `auth.issuer`.
        ///
        /// Correct the setting or the issuer.
        case wrongIssuer = "wrong_issuer"
        /// Its `aud` does not contain `auth.audience`.
        ///
        /// Correct the setting or the issuer.
        case wrongAudience = "wrong_audience"
        /// Its `join` is neither `"*"` nor a list of at most 50 names and patterns such as `"team7:*"`.
        ///
        /// Correct the server that makes the tokens.
        case wrongJoin = "wrong_join"
        /// Its `watch` is neither `"*"` nor a list of at most 50 names and patterns such as `"acme/*"`.
        ///
        /// Correct the server that makes the tokens.
        case wrongWatch = "wrong_watch"
        /// It is for another device than the one in `hello`.
        ///
        /// Send no `device`: the token's counts.
        case wrongDevice = "wrong_device"
        /// Neither the token nor the `hello` names a device.
        ///
        /// Send a `device`. The clients of this project do.
        case noDevice = "no_device"
    }

    public var code: Code
    /// A sentence for people. It contains nothing of the token, unless its signature is valid.
    public var message: String
    /// What the log says in addition: of a token that anybody may have made, escaped and cut.
    package var detail: String?
    /// Whether an issuer has signed the token, so that something of ours or theirs is wrong.
    package var isSigned = false
    /// How long until the token becomes valid, if it is not valid yet.
    package var wait: Duration?

    package init(_ code: Code, _ message: String, detail: String? = nil) {
        self.code = code
        self.message = message
        self.detail = detail
    }

    /// How a session ends that has no other token.
    package var end: SessionEnd {
        switch code {
        case .malformed, .wrongJoin, .wrongWatch, .wrongDevice: .badToken(because: description)
        case .expired: .tokenExpired(because: description)
        case .noDevice: .badMessage(because: description)
        case .keysUnavailable: .busy(because: description)
        case .wrongAlgorithm: later(.wrongAlgorithm)
        case .unknownKey: later(.unknownKey)
        case .badSignature: later(.badSignature)
        case .wrongType: later(.wrongType)
        case .notYetValid: later(.notYetValid)
        case .livesTooLong: later(.livesTooLong)
        case .wrongIssuer: later(.wrongIssuer)
        case .wrongAudience: later(.wrongAudience)
        }
    }
}

extension AuthenticationError {
    private func later(_ reason: GoodbyeReason) -> SessionEnd {
        .busy(reason, after: wait ?? ShardSettings.busyPause, because: description)
    }
}

extension AuthenticationError: CustomStringConvertible {
    /// What the client is sent: the code, and the sentence.
    public var description: String { "\(code.rawValue): \(message)" }
}
