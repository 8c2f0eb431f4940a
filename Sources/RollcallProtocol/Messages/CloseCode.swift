// Why a connection ended: the WebSocket close code, and the reason in the `goodbye` before it.

/// A WebSocket close code. After codes from 4100 to 4199, fix the cause first. After all others, reconnect with
/// backoff.
public struct CloseCode: Hashable, Sendable, RawRepresentable {
    public var rawValue: UInt16

    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The client sent `goodbye`.
    public static let normal = CloseCode(rawValue: 1000)
    /// A frame violates RFC 6455, or a message has more than 16 empty fragments.
    ///
    /// Correct the client. Check whether a proxy changes frames.
    public static let protocolError = CloseCode(rawValue: 1002)
    /// The client sent a binary message.
    ///
    /// Send text.
    public static let unsupportedData = CloseCode(rawValue: 1003)
    /// A text message is not UTF-8.
    ///
    /// Correct the client.
    public static let invalidText = CloseCode(rawValue: 1007)
    /// A message is longer than `limits.message_bytes`, or a `hello` is longer than 16 KiB.
    ///
    /// Name fewer users in each `watch` or `get`.
    public static let tooBig = CloseCode(rawValue: 1009)

    /// The worker stops.
    ///
    /// Reconnect when and where the `goodbye` says.
    public static let draining = CloseCode(rawValue: 4000)
    /// The client read too slowly for too long.
    ///
    /// Reconnect, and watch fewer users.
    public static let tooSlow = CloseCode(rawValue: 4001)
    /// Not now: the worker is full, the user connects too often, or the token may be accepted after a key, a clock or
    /// a configuration changes.
    ///
    /// Reconnect after the time in `after` of the `goodbye`.
    public static let busy = CloseCode(rawValue: 4002)
    /// No `hello` arrived within `limits.hello`.
    ///
    /// Fetch the token before connecting, and send `hello` immediately.
    public static let late = CloseCode(rawValue: 4003)

    /// The token is refused for good, or the user's tokens were revoked. The reason of the close frame has a code, a
    /// colon and a sentence.
    ///
    /// Connect with a valid token. If many clients get this code, check whether keys were changed on one side only.
    public static let badToken = CloseCode(rawValue: 4100)
    /// The token has expired, or was revoked less than a minute ago.
    ///
    /// Connect with a new token. While connected, send the new token before the old one expires.
    public static let tokenExpired = CloseCode(rawValue: 4101)
    /// The first message was not a `hello`, a second `hello` arrived, a message was not a JSON object, or neither
    /// `hello` nor token names a device.
    ///
    /// Correct the client.
    public static let badMessage = CloseCode(rawValue: 4102)
    /// More than 16,384 frames in one second completed no message (pings, pongs, fragments). In a server that embeds
    /// a node: 8,192 messages of a session wait for its user's budget.
    ///
    /// Send fewer frames. Name many users in one message.
    public static let tooManyMessages = CloseCode(rawValue: 4103)
    /// A newer session of the same device is connected.
    ///
    /// If two devices replace each other in turn, they have the same name: give each its own.
    public static let replaced = CloseCode(rawValue: 4104)
    /// The user already has `limits.sessions_per_user` other devices on this worker.
    ///
    /// Close some. Check for a program that opens sessions and never closes them.
    public static let tooManySessions = CloseCode(rawValue: 4105)
    /// An operator disconnected the user.
    ///
    /// Sign in again, if the user may.
    public static let sentAway = CloseCode(rawValue: 4106)

    /// The token is for another user than the client's last session, or than this one.
    ///
    /// Forget the user who was signed in, and connect without `user` in the `hello`.
    public static let anotherUser = CloseCode(rawValue: 4107)

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
    public static let anotherUser = GoodbyeReason(rawValue: "another_user")

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
