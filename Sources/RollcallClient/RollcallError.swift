// What can go wrong for good reason. Weather (no network, a worker gone) is never thrown: the client goes on trying,
// and the connection state says so. Errors are mistakes, which somebody has to put right.

/// A mistake that somebody must put right, or, in ``ConnectionState/waiting(_:because:)``, the weather of the moment.
public struct RollcallError: Error, Sendable {
    /// Stable: programs match on it.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// The URL is no `ws://` or `wss://` URL with a host.
        case invalidURL = "invalid_url"
        /// The worker does not take the token (close code 4100).
        case badToken = "bad_token"
        /// The token has expired, and so had the one that the callback gave after it, when it came (4101).
        case tokenExpired = "token_expired"
        /// The worker found a message of ours wrong, or this one is no Rollcall worker (4102).
        case protocolError = "protocol_error"
        /// More messages than the worker allows (4103).
        case tooManyMessages = "too_many_messages"
        /// A newer session of the same device is connected (4104).
        case replaced
        /// The user has more sessions than the worker allows (4105).
        case tooManySessions = "too_many_sessions"
        /// An operator ended the session (4106).
        case sentAway = "sent_away"
        /// The worker ended the session for another reason that a reconnect would not mend.
        case refused
        /// The user is no member of the conversation.
        case notAMember = "not_a_member"
        /// More users or conversations at once than a session may observe.
        case limit
        /// The worker did not take a single message.
        case badRequest = "bad_request"
        /// The token callback threw, or did not answer in time.
        case tokenUnavailable = "token_unavailable"
        /// No worker answered at the URL.
        case unreachable
        /// The connection ended, or nothing came over it any more.
        case connectionLost = "connection_lost"
        /// The worker asked to come back later or elsewhere.
        case asked
    }

    public var code: Code
    /// A sentence for a person.
    public var message: String
    /// The WebSocket close code, where the worker gave one.
    public var closeCode: CloseCode?
    /// What was thrown below, if anything was.
    public var underlying: (any Error)?

    public init(_ code: Code, _ message: String, closeCode: CloseCode? = nil, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.closeCode = closeCode
        self.underlying = underlying
    }

    /// Whether trying the same again may help. Where it may, the client is already doing so.
    public var retry: Bool {
        switch code {
        case .tokenUnavailable, .unreachable, .connectionLost, .asked: true
        case .invalidURL, .badToken, .tokenExpired, .protocolError, .tooManyMessages, .replaced, .tooManySessions,
            .sentAway, .refused, .notAMember, .limit, .badRequest:
            false
        }
    }
}

extension RollcallError: Hashable {
    /// Two errors are the same if their code, sentence and close code are; what lies below cannot be compared.
    public static func == (left: Self, right: Self) -> Bool {
        left.code == right.code && left.message == right.message && left.closeCode == right.closeCode
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(message)
        hasher.combine(closeCode)
    }
}

extension RollcallError: CustomStringConvertible {
    public var description: String {
        let cause = underlying.map { " (\($0))" } ?? ""
        return "\(code.rawValue): \(message)\(cause)"
    }
}

extension RollcallError {
    /// The mistake behind a close code from 4100 to 4199.
    init(closedWith code: CloseCode) {
        switch code {
        case .badToken: self.init(.badToken, "the worker does not take the token", closeCode: code)
        case .tokenExpired: self.init(.tokenExpired, "the token has expired", closeCode: code)
        case .badMessage: self.init(.protocolError, "the worker could not read a message", closeCode: code)
        case .tooManyMessages: self.init(.tooManyMessages, "more messages than the worker allows", closeCode: code)
        case .replaced: self.init(.replaced, "a newer session of this device is connected", closeCode: code)
        case .tooManySessions: self.init(.tooManySessions, "the user has too many sessions", closeCode: code)
        case .sentAway: self.init(.sentAway, "an operator ended the session", closeCode: code)
        default: self.init(.refused, "the worker ended the session with code \(code.rawValue)", closeCode: code)
        }
    }

    /// The mistake that a worker's `error` message tells of.
    init(_ error: MessageError) {
        let code: Code =
            switch error.code {
            case .notAMember: .notAMember
            case .limit: .limit
            default: error.retry ? .asked : .badRequest
            }
        self.init(code, error.message)
    }
}
