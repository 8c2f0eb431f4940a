// Why somebody was not let in. The client is told to fix its token (4100), to fetch a fresh one (4101), to mend its hello
// (4102) or to come back later (4002); which of these it is decides whether an app signs its user out.

public import RollcallModel

/// Why a token does not prove who somebody is.
public struct AuthenticationError: Error, Hashable, Sendable {
    /// Stable: programs match on it.
    public enum Code: String, Sendable, CaseIterable {
        /// It is no token at all, or a claim in it is of the wrong kind.
        case malformed
        /// No key of this worker goes with the token's algorithm and key id.
        case unknownKey = "unknown_key"
        /// No key goes with it, and the place where there may be one cannot be reached: nobody can say now.
        case keysUnavailable = "keys_unavailable"
        case badSignature = "bad_signature"
        /// Its header says that it was issued for something else, such as `secevent+jwt`.
        case wrongType = "wrong_type"
        case expired
        /// Its `nbf` or `iat` lies ahead, most often because the issuer's clock does: it is good later.
        case notYetValid = "not_yet_valid"
        /// It lives longer than `auth.max_lifetime` allows.
        case livesTooLong = "lives_too_long"
        case wrongIssuer = "wrong_issuer"
        case wrongAudience = "wrong_audience"
        /// The token names another device than the client does.
        case wrongDevice = "wrong_device"
        /// Neither the token nor the client names a device.
        case noDevice = "no_device"
    }

    public var code: Code
    /// A sentence for a person; nothing of the token stands in it.
    public var message: String
    /// Whether the key may be one that its source has and we have not yet read.
    var mayBeNewKey = false
    /// How long until the token is good, if it is not yet.
    var wait: Duration?

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// How the connection is closed.
    public var closeCode: CloseCode {
        switch code {
        case .malformed, .unknownKey, .badSignature, .wrongType, .livesTooLong, .wrongIssuer, .wrongAudience,
            .wrongDevice:
            .badToken
        case .expired: .tokenExpired
        case .noDevice: .badMessage
        case .keysUnavailable, .notYetValid: .busy
        }
    }
}

extension AuthenticationError: CustomStringConvertible {
    public var description: String { message }
}
