// The answer to a message that did not take effect.

/// Why a message did not take effect. The session goes on.
public struct MessageError: Error, Hashable, Sendable {
    /// Stable: programs match on it. Later versions may have other codes.
    public struct Code: Hashable, Sendable, RawRepresentable {
        public var rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A field is missing or wrong.
        public static let badRequest = Code(rawValue: "bad_request")
        /// The `type` is not one that this worker knows.
        public static let unknownType = Code(rawValue: "unknown_type")
        /// Typing was signalled in a conversation that the session has not joined.
        public static let notJoined = Code(rawValue: "not_joined")
        /// The conversation has members, and the user is none of them.
        public static let notAMember = Code(rawValue: "not_a_member")
        /// The session would hold more than one of the limits in `welcome` allows.
        public static let limit = Code(rawValue: "limit")
        /// The session has named more users in a short time than a worker looks up; the same message may succeed later.
        public static let slowDown = Code(rawValue: "slow_down")
        /// Redis is away; the same message may succeed later.
        public static let unavailable = Code(rawValue: "unavailable")
    }

    public var code: Code
    /// The `id` of the message that failed, if it had one.
    public var id: MessageID?
    /// A sentence for a person.
    public var message: String
    /// Whether the same message may succeed later. Of a code that the reader does not know, all that it can tell.
    public private(set) var retry: Bool

    public init(code: Code, id: MessageID?, message: String) {
        self.code = code
        self.id = id
        self.message = message
        retry = code == .unavailable || code == .slowDown
    }

    /// As a worker says it.
    ///
    /// - Parameter retry: `nil` where it does not say.
    package init(code: Code, id: MessageID?, message: String, retry: Bool?) {
        self.init(code: code, id: id, message: message)
        if let retry { self.retry = retry }
    }
}
