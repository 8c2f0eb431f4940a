// The errors of a client. Temporary failures, such as no network or a lost worker, are never thrown: the client
// retries, and the connection state says so. Errors that are thrown, or with which a connection fails, need a fix.

/// An error that needs a fix, or, in ``ConnectionState/waiting(_:because:)``, the reason for the next attempt.
public struct RollcallError: Error, Sendable {
    /// What went wrong. The raw values are stable: programs may match on them.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// A URL is not a `ws://` or `wss://` URL with a host, or there is none. In Swift also a `ws://` URL of
        /// another machine, without ``ClientOptions/allowsUnencryptedConnections``.
        case invalidURL = "invalid_url"
        /// There is no WebSocket. In Swift on Linux, depend on the package with the trait `NIO`. Node.js has one from
        /// version 22 on, and version 20 with `--experimental-websocket`.
        case noWebSocket = "no_websocket"
        /// No worker accepts the token. While the connection waits with this code, a key, a configuration or a clock
        /// is wrong, and the client keeps trying. If the token callback throws it, the user is signed out.
        case badToken = "bad_token"
        /// The token has expired. The client calls the token callback at once, and then after pauses of up to 15 s
        /// for as long as it returns expired tokens.
        case tokenExpired = "token_expired"
        /// The worker could not read one of the client's messages, or the server is not a Rollcall worker.
        case protocolError = "protocol_error"
        /// The client sent far more frames or messages than the worker allows.
        case tooManyMessages = "too_many_messages"
        /// A newer session of the same device has replaced this one.
        case replaced
        /// The user has more sessions than the worker allows. The client tries again every 15 s.
        case tooManySessions = "too_many_sessions"
        /// An operator disconnected the user.
        case sentAway = "sent_away"
        /// The token is another user's than the last session's. Call ``RollcallClient/disconnect()`` before another user signs
        /// in.
        case anotherUser = "another_user"
        /// The worker ended the session with a code from 4100 to 4199 that this client does not know.
        case refused
        /// The user is not a member of the conversation. The conversation's stream reports it once, and continues
        /// when the user becomes a member.
        case notAMember = "not_a_member"
        /// The client observes more users or conversations than the worker allows. It does not show those beyond the
        /// limit.
        case limit
        /// The app observes somebody whom it may not see, and who so looks as if never seen: name a conversation of both (`in:`),
        /// or let the token's claim `watch` or `access.watch` name them. A problem only, reported once.
        case notShared = "not_shared"
        /// The worker rejected one message.
        case badRequest = "bad_request"
        /// The token callback threw an error, or returned an empty token.
        case tokenUnavailable = "token_unavailable"
        /// No worker answered at the URL, or TLS failed.
        case unreachable
        /// The connection ended without a close frame, or the worker sent nothing for too long.
        case connectionLost = "connection_lost"
        /// The worker asked the client to reconnect later, or to another worker.
        case asked
    }

    public var code: Code
    /// A sentence in English that describes the error.
    public var message: String
    /// The WebSocket close code, if the worker sent one.
    public var closeCode: CloseCode?
    /// The error that caused this one, if any.
    public var underlying: (any Error)?
    /// In ``ConnectionState/failed(_:)``: how long after the failure the client tries again by itself. `nil` if it waits for
    /// ``RollcallClient/connect()``.
    public internal(set) var retryIn: Duration?

    public init(_ code: Code, _ message: String, closeCode: CloseCode? = nil, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.closeCode = closeCode
        self.underlying = underlying
    }

    /// Whether this passes by itself, so that nobody has to fix anything: the client already retries.
    public var retry: Bool {
        switch code {
        case .tokenUnavailable, .unreachable, .connectionLost, .asked: true
        case .invalidURL, .noWebSocket, .badToken, .tokenExpired, .protocolError, .tooManyMessages, .replaced,
            .tooManySessions,
            .sentAway, .anotherUser, .refused, .notAMember, .notShared, .limit, .badRequest:
            false
        }
    }
}

/// Thrown by a token callback that cannot give a token now. The client calls it again after ever longer pauses, up to 15 s;
/// any other error means the same, except for a ``RollcallError`` with the code `bad_token`: the user is signed out.
public struct TokenUnavailable: Error, Hashable, Sendable {
    /// How long the token server asks to be left alone, as with the header `Retry-After`; five minutes at most.
    public var retryAfter: Duration?

    public init(retryAfter: Duration? = nil) {
        self.retryAfter = retryAfter
    }
}

extension RollcallError: Hashable {
    /// Compares code, message and close code. Underlying errors cannot be compared.
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
    /// - Parameter sentence: what the worker says about it; may be empty.
    init(_ code: Code, _ message: String, because sentence: String, closeCode: CloseCode) {
        self.init(code, message + (sentence.isEmpty ? "" : " (\(sentence))"), closeCode: closeCode)
    }

    /// Creates the error for a close code from 4100 to 4199.
    ///
    /// - Parameter sentence: what the worker says about it; may be empty.
    init(closedWith code: CloseCode, _ sentence: String = "") {
        switch code {
        case .badToken:
            self.init(.badToken, "the worker does not take the token", because: sentence, closeCode: code)
        case .tokenExpired: self.init(.tokenExpired, "the token has expired", closeCode: code)
        case .badMessage:
            self.init(.protocolError, "the worker could not read a message", because: sentence, closeCode: code)
        case .tooManyMessages: self.init(.tooManyMessages, "more messages than the worker allows", closeCode: code)
        case .replaced: self.init(.replaced, "a newer session of this device is connected", closeCode: code)
        case .tooManySessions:
            self.init(
                .tooManySessions, "the user has as many sessions as the worker's limits.sessions_per_user allows",
                closeCode: code)
        case .sentAway: self.init(.sentAway, "an operator ended the session", closeCode: code)
        case .anotherUser:
            self.init(
                .anotherUser, "the token is another user's: call disconnect() before another user signs in",
                closeCode: code)
        default: self.init(.refused, "the worker ended the session with code \(code.rawValue)", closeCode: code)
        }
    }

    /// Creates the error for a worker's `error` message.
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
