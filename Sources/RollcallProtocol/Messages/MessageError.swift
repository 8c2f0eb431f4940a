// The answer to a message that had no effect.

/// Why a message had no effect. The session continues.
public struct MessageError: Error, Hashable, Sendable {
    /// What went wrong. The values are stable: programs may match on them. Later versions may have more codes.
    public struct Code: Hashable, Sendable, RawRepresentable {
        public var rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A field is missing, or has a wrong type or value; or a new token is refused for good.
        ///
        /// Correct the message. The sentence names the field.
        public static let badRequest = Code(rawValue: "bad_request")
        /// The worker does not know this `type`.
        ///
        /// Check whether the client is newer than the worker.
        public static let unknownType = Code(rawValue: "unknown_type")
        /// The message needs a conversation that this session has joined.
        ///
        /// Send `join` first, and again after each reconnect.
        public static let notJoined = Code(rawValue: "not_joined")
        /// The conversation has members, and the user is not one of them. Or it has none, and neither the token's
        /// claim `join` nor `conversations.default` opens it: this is the default with signed tokens. Or the app's server, which
        /// `access.url` names, does not let the user in.
        ///
        /// Set the members before users open the conversation, or put `join` into the token, or set `access.url` or
        /// `conversations.default: open`. The sentence says which case it is.
        public static let notAMember = Code(rawValue: "not_a_member")
        /// The session would exceed one of the limits in its `welcome`.
        ///
        /// Send `unwatch`, `leave` or `exit` for what is not visible.
        public static let limit = Code(rawValue: "limit")
        /// Redis cannot be reached or refuses writes, a slot of a cluster moves, too many messages of the session
        /// wait, or a new token cannot be checked yet. `retry` is true.
        ///
        /// Send the message again later.
        public static let unavailable = Code(rawValue: "unavailable")
    }

    public var code: Code
    /// The `id` of the message that failed, if it had one.
    public var id: MessageID?
    /// A sentence in English that describes the error.
    public var message: String
    /// Whether the same message may succeed later. For an unknown code, this is all that a client can use.
    public private(set) var retry: Bool

    public init(code: Code, id: MessageID?, message: String) {
        self.code = code
        self.id = id
        self.message = message
        retry = code == .unavailable
    }

    /// Creates an error as a worker sent it.
    ///
    /// - Parameter retry: `nil` if the worker did not send it. Then it follows from the code.
    package init(code: Code, id: MessageID?, message: String, retry: Bool?) {
        self.init(code: code, id: id, message: message)
        if let retry { self.retry = retry }
    }
}
