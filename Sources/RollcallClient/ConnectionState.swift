// The state of the client's connection, for apps that show it.

/// The state of the connection to a worker.
public enum ConnectionState: Hashable, Sendable {
    /// ``RollcallClient/connect()`` has not been called, or ``RollcallClient/disconnect()`` has; also while the app rests in the
    /// background.
    case idle
    /// Fetching a token, opening a connection or waiting for the worker's welcome.
    case connecting
    case connected(Session)
    /// Disconnected. The next attempt starts after the duration, or earlier, at ``RollcallClient/networkChanged()`` or
    /// ``RollcallClient/connect()``.
    case waiting(Duration, because: RollcallError)
    /// A worker refused the session, or an argument is wrong: fix the cause.
    ///
    /// With ``RollcallError/retryIn``, the client tries again by itself, with a fresh token: first then, later ever more rarely,
    /// every five minutes in the end, and when the user returns to the app. It reports only what is new. Without, it waits for
    /// ``RollcallClient/connect()``.
    case failed(RollcallError)
    /// ``RollcallClient/close()`` was called. This is the last state.
    case closed

    public var isConnected: Bool {
        if case .connected = self { true } else { false }
    }

    /// What to tell the user: that the client is connecting, could not connect, or needs another sign-in (`bad_token`,
    /// `token_expired`). Empty in every other state.
    public func text(in language: Language = .current) -> String {
        let words = language.words.connection
        switch self {
        case .idle, .connected, .closed: return ""
        case .connecting, .waiting: return words.connecting
        case .failed(let error):
            return [.badToken, .tokenExpired].contains(error.code) ? words.signedOut : words.failed
        }
    }
}

/// The identity of a connected client, as confirmed by the worker.
public struct Session: Hashable, Sendable {
    public var user: UserID
    public var device: DeviceID
    /// The worker's identifier of this session, for logs.
    public var session: String
    /// The worker's name, for logs.
    public var worker: String
}
