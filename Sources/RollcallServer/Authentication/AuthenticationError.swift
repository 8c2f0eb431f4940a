// Why a client was not admitted. The close code tells the client to fix its token (4100), fetch a new one (4101), fix
// its hello (4102) or retry later (4002): what another key, configuration or clock makes good, of this worker or of the
// issuer, is retried.

package import RollcallCore
internal import RollcallProtocol

/// Why a token does not prove an identity.
public struct AuthenticationError: Error, Hashable, Sendable {
    /// Stable codes for programs to match.
    public enum Code: String, Sendable, CaseIterable {
        /// Not a token at all, or a claim has the wrong type.
        case malformed
        /// This worker has no keys for the token's algorithm.
        case wrongAlgorithm = "wrong_algorithm"
        /// The configured key sets lack the token's key. They may have it later: an issuer may sign with a new key before
        /// everybody has read it.
        case unknownKey = "unknown_key"
        /// No key matches, and the URL that may have the key cannot be reached. The token may still be valid.
        case keysUnavailable = "keys_unavailable"
        case badSignature = "bad_signature"
        /// Its header says that it was issued for another purpose, such as `secevent+jwt`.
        case wrongType = "wrong_type"
        case expired
        /// Its `nbf` or `iat` is in the future, most often because the issuer's clock is ahead. It becomes valid later.
        case notYetValid = "not_yet_valid"
        /// Its lifetime exceeds `auth.max_lifetime`.
        case livesTooLong = "lives_too_long"
        case wrongIssuer = "wrong_issuer"
        case wrongAudience = "wrong_audience"
        /// Its `join` is neither `"*"` nor a list of at most 50 names and patterns.
        case wrongJoin = "wrong_join"
        /// The token names a different device than the client.
        case wrongDevice = "wrong_device"
        /// Neither the token nor the client names a device.
        case noDevice = "no_device"
    }

    public var code: Code
    /// A sentence for people. It contains nothing of the token.
    public var message: String
    /// How long until the token becomes valid, if it is not valid yet.
    package var wait: Duration?

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// How a session ends that has no other token.
    package var end: SessionEnd {
        switch code {
        case .malformed, .wrongJoin, .wrongDevice: .badToken(because: description)
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
