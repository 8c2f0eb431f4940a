// How the client stands with its worker, for an app that shows it.

/// What the connection is doing.
public enum ConnectionState: Hashable, Sendable {
    /// ``RollcallClient/connect()`` has not been called.
    case idle
    /// Fetching a token, opening a connection or waiting for the worker's welcome.
    case connecting
    case connected(Session)
    /// No connection now; the next attempt comes after the duration, or at ``RollcallClient/networkChanged()``.
    case waiting(Duration, because: RollcallError)
    /// Given up until somebody puts the error right and calls ``RollcallClient/connect()`` again.
    case failed(RollcallError)
    /// ``RollcallClient/close()`` was called: the end.
    case closed

    public var isConnected: Bool {
        if case .connected = self { true } else { false }
    }
}

/// Who this client is to its worker.
public struct Session: Hashable, Sendable {
    public var user: UserID
    public var device: DeviceID
    /// The worker's name for this session, for logs.
    public var session: String
    /// The worker's name, for logs.
    public var worker: String
}
