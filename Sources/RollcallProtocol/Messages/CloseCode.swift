// Why a connection ended: the WebSocket close code, and the reason in the `goodbye` before it.

/// A WebSocket close code. After codes from 4100 to 4199, fix the cause first. After all others, reconnect with
/// backoff.
public struct CloseCode: Hashable, Sendable, RawRepresentable {
    public var rawValue: UInt16

    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The client said goodbye.
    public static let normal = CloseCode(rawValue: 1000)
    /// A frame violates RFC 6455.
    public static let protocolError = CloseCode(rawValue: 1002)
    /// The client sent a binary frame.
    public static let unsupportedData = CloseCode(rawValue: 1003)
    /// A text frame is not UTF-8.
    public static let invalidText = CloseCode(rawValue: 1007)
    /// A message is larger than `limits.message_bytes`.
    public static let tooBig = CloseCode(rawValue: 1009)

    public static let draining = CloseCode(rawValue: 4000)
    public static let tooSlow = CloseCode(rawValue: 4001)
    /// The worker is too busy. The goodbye before it states in `after` when to reconnect.
    public static let busy = CloseCode(rawValue: 4002)
    /// No hello arrived within `limits.hello`.
    public static let late = CloseCode(rawValue: 4003)

    public static let badToken = CloseCode(rawValue: 4100)
    public static let tokenExpired = CloseCode(rawValue: 4101)
    /// A message is out of order, or is not a JSON object.
    public static let badMessage = CloseCode(rawValue: 4102)
    public static let tooManyMessages = CloseCode(rawValue: 4103)
    /// A newer session of this device is connected.
    public static let replaced = CloseCode(rawValue: 4104)
    public static let tooManySessions = CloseCode(rawValue: 4105)
    public static let sentAway = CloseCode(rawValue: 4106)

    /// Whether reconnecting without a change can help.
    public var mayReconnect: Bool { !(4100...4199).contains(rawValue) }
}

/// Why a worker says goodbye. Later versions may have more reasons. What a client does depends on the goodbye's
/// `reconnect` and the close code, and on whether the reason is about its token.
public struct GoodbyeReason: Hashable, Sendable, RawRepresentable {
    public var rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public static let draining = GoodbyeReason(rawValue: "draining")
    public static let slow = GoodbyeReason(rawValue: "slow")
    public static let busy = GoodbyeReason(rawValue: "busy")
    public static let late = GoodbyeReason(rawValue: "late")
    public static let replaced = GoodbyeReason(rawValue: "replaced")
    public static let expired = GoodbyeReason(rawValue: "expired")
    public static let limit = GoodbyeReason(rawValue: "limit")
    public static let sentAway = GoodbyeReason(rawValue: "sent_away")

    // With ``CloseCode/busy``: the token is not taken, and another, or the same one later, may be.
    public static let badSignature = GoodbyeReason(rawValue: "bad_signature")
    public static let unknownKey = GoodbyeReason(rawValue: "unknown_key")
    public static let wrongAlgorithm = GoodbyeReason(rawValue: "wrong_algorithm")
    public static let wrongIssuer = GoodbyeReason(rawValue: "wrong_issuer")
    public static let wrongAudience = GoodbyeReason(rawValue: "wrong_audience")
    public static let wrongType = GoodbyeReason(rawValue: "wrong_type")
    public static let livesTooLong = GoodbyeReason(rawValue: "lives_too_long")
    public static let notYetValid = GoodbyeReason(rawValue: "not_yet_valid")

    package var isAboutToken: Bool {
        [
            .badSignature, .unknownKey, .wrongAlgorithm, .wrongIssuer, .wrongAudience, .wrongType, .livesTooLong,
            .notYetValid,
        ].contains(self)
    }
}
