// What follows the end of a connection or of an attempt at one. The close code rules: 4100 to 4199 mean that somebody
// has to put something right first; after anything else the client comes back, when and where the worker said.

/// How a connection, or the attempt at one, ended.
enum Ending {
    /// No worker answered.
    case notReached((any Error)?)
    /// The connection ended without a close frame, or nothing came over it any more.
    case lost((any Error)?)
    case closed(CloseCode)
}

/// Decides what follows each ending.
struct Reconnecting {
    enum Next: Equatable {
        case retry(after: Duration, freshToken: Bool, because: RollcallError)
        case giveUp(RollcallError)
    }

    /// The longest that a worker may make a client wait: beyond it, it is more likely wrong than busy.
    static let longestWait = Duration.seconds(300)

    private let home: WorkerAddress
    private var backoff: Backoff
    /// What the worker said before it closed.
    private var goodbye: ServerMessage.Goodbye?
    /// Whether the token was fetched anew after 4101 and no welcome has come since.
    private var refreshed = false
    /// Where the next attempt goes.
    private(set) var address: WorkerAddress

    init(home: WorkerAddress, backoff: Backoff) {
        self.home = home
        self.backoff = backoff
        address = home
    }

    mutating func welcomed() {
        refreshed = false
    }

    mutating func goodbyeReceived(_ goodbye: ServerMessage.Goodbye) {
        self.goodbye = goodbye
    }

    /// The token callback threw: its own mistakes end the trying, anything else is weather.
    mutating func tokenFailed(_ error: any Error, using random: inout some RandomNumberGenerator) -> Next {
        if let mistake = error as? RollcallError, !mistake.retry { return .giveUp(mistake) }
        let reason = RollcallError(.tokenUnavailable, "the app gave no token", underlying: error)
        return .retry(after: backoff.failed(using: &random), freshToken: true, because: reason)
    }

    /// - Parameter held: how long the connection had stood since its welcome.
    mutating func ended(
        _ ending: Ending, held: Duration, using random: inout some RandomNumberGenerator
    ) -> Next {
        let goodbye = self.goodbye
        self.goodbye = nil
        backoff.connectionHeld(for: held)
        address = home
        switch ending {
        case .notReached(let error):
            let reason = RollcallError(.unreachable, "no worker answered", underlying: error)
            return retry(nil, because: reason, using: &random)
        case .lost(let error):
            if let goodbye, !goodbye.reconnect { return .giveUp(RollcallError(goodbye)) }
            let reason = RollcallError(.connectionLost, "the connection was lost", underlying: error)
            return retry(goodbye, because: reason, using: &random)
        case .closed(.tokenExpired):
            return tokenExpired()
        case .closed(let code) where !code.mayReconnect:
            return .giveUp(RollcallError(closedWith: code))
        case .closed(let code):
            if let goodbye, !goodbye.reconnect { return .giveUp(RollcallError(goodbye)) }
            let reason = RollcallError(.asked, "the worker closed the connection", closeCode: code)
            return retry(goodbye, because: reason, using: &random)
        }
    }

    private mutating func tokenExpired() -> Next {
        let error = RollcallError(closedWith: .tokenExpired)
        if refreshed { return .giveUp(error) }
        refreshed = true
        return .retry(after: .zero, freshToken: true, because: error)
    }

    private mutating func retry(
        _ goodbye: ServerMessage.Goodbye?, because reason: RollcallError,
        using random: inout some RandomNumberGenerator
    ) -> Next {
        if let to = goodbye?.to.flatMap(WorkerAddress.init), to.isTrusted(by: home) { address = to }
        let pause = backoff.failed(using: &random)
        let asked = goodbye?.after.map { min(max(.zero, .milliseconds($0)), Self.longestWait) }
        return .retry(after: asked ?? pause, freshToken: false, because: reason)
    }
}

extension RollcallError {
    /// The end that a goodbye without a way back tells of.
    fileprivate init(_ goodbye: ServerMessage.Goodbye) {
        switch goodbye.reason {
        case .replaced: self.init(closedWith: .replaced)
        case .expired: self.init(closedWith: .tokenExpired)
        case .limit: self.init(closedWith: .tooManySessions)
        case .sentAway: self.init(closedWith: .sentAway)
        default:
            self.init(.refused, "the worker ended the session: \(goodbye.reason.rawValue)")
        }
    }
}
