// What follows when a connection or a connection attempt ends. Close codes from 4100 to 4199 mean that something must
// be fixed first. After anything else the client reconnects, when and where the worker asked.

/// How a connection or a connection attempt ended.
package enum Ending {
    /// No worker answered.
    case notReached((any Error)?)
    /// The connection ended without a close frame, or nothing arrived for too long.
    case lost((any Error)?)
    case closed(CloseCode)
}

/// Decides what follows when a connection ends.
struct Reconnecting {
    /// A token that is rejected as expired within this time after the app returned it was never fresh.
    static let freshness = Duration.seconds(60)

    enum Next: Equatable {
        case retry(after: Duration, freshToken: Bool, because: RollcallError)
        case giveUp(RollcallError)
    }

    private var itinerary: Itinerary<WorkerAddress>
    /// The only hosts to which a worker may redirect the client, since the token goes along.
    private let hosts: [String]
    /// Whether a worker may also redirect the client to `ws://` addresses of other machines.
    private let allowsUnencrypted: Bool
    private var backoff: Backoff
    /// What the worker announced before it closed.
    private var goodbye: ServerMessage.Goodbye?
    /// Whether a fresh token was requested after close code 4101, and no welcome has arrived since.
    private var refreshed = false

    /// - Parameter others: hosts to which a worker may redirect the client, besides those of its addresses.
    init(
        _ itinerary: Itinerary<WorkerAddress>, allowing others: [String], allowsUnencrypted: Bool = false,
        backoff: Backoff
    ) {
        self.itinerary = itinerary
        self.allowsUnencrypted = allowsUnencrypted
        hosts = itinerary.hosts + others
        self.backoff = backoff
    }

    /// The address for the next attempt.
    var address: WorkerAddress { itinerary.address }

    /// The time limit of that attempt.
    func timeLimit(atMost longest: Duration) -> Duration { itinerary.timeLimit(atMost: longest) }

    mutating func welcomed() {
        refreshed = false
        itinerary.welcomed()
    }

    /// Handles the start of an attempt. A goodbye belongs to one connection.
    mutating func opening() {
        goodbye = nil
    }

    mutating func goodbyeReceived(_ goodbye: ServerMessage.Goodbye) {
        self.goodbye = goodbye
    }

    /// Handles an error of the token callback. A ``RollcallError`` that no retry can fix is final; after others, the
    /// client retries.
    mutating func tokenFailed(_ error: any Error, using random: inout some RandomNumberGenerator) -> Next {
        if let mistake = error as? RollcallError, !mistake.retry { return .giveUp(mistake) }
        let reason = RollcallError(.tokenUnavailable, "the app gave no token", underlying: error)
        return .retry(after: backoff.failed(using: &random), freshToken: true, because: reason)
    }

    /// - Parameters:
    ///   - held: how long the connection lasted since its welcome.
    ///   - tokenAge: how long ago the app returned the token.
    mutating func ended(
        _ ending: Ending, held: Duration, tokenAge: Duration, using random: inout some RandomNumberGenerator
    ) -> Next {
        let goodbye = self.goodbye
        self.goodbye = nil
        switch ending {
        case .notReached(let error):
            return notReached(error, using: &random)
        case .lost(let error):
            let reason = RollcallError(.connectionLost, "the connection was lost", underlying: error)
            return connectionEnded(goodbye, held: held, because: reason, using: &random)
        case .closed(.tokenExpired):
            return tokenExpired(at: tokenAge)
        case .closed(let code) where !code.mayReconnect:
            return .giveUp(RollcallError(closedWith: code))
        case .closed(let code):
            let reason = RollcallError(.asked, "the worker closed the connection", closeCode: code)
            return connectionEnded(goodbye, held: held, because: reason, using: &random)
        }
    }

    private mutating func tokenExpired(at age: Duration) -> Next {
        let error = RollcallError(closedWith: .tokenExpired)
        if refreshed, age <= Self.freshness { return .giveUp(error) }
        refreshed = true
        itinerary.connectionEnded()
        return .retry(after: .zero, freshToken: true, because: error)
    }

    private mutating func notReached(_ error: (any Error)?, using random: inout some RandomNumberGenerator) -> Next {
        let reason = RollcallError(.unreachable, "no worker answered", underlying: error)
        let pause = itinerary.notReached() ? Duration.zero : backoff.failed(using: &random)
        return .retry(after: pause, freshToken: false, because: reason)
    }

    private mutating func connectionEnded(
        _ goodbye: ServerMessage.Goodbye?, held: Duration, because reason: RollcallError,
        using random: inout some RandomNumberGenerator
    ) -> Next {
        if let goodbye, !goodbye.reconnect { return .giveUp(RollcallError(goodbye)) }
        let next = goodbye?.to.flatMap(WorkerAddress.init).flatMap { next in
            let mayCarryToken = next.isTrusted(by: address) && (allowsUnencrypted || next.isPrivate)
            return mayCarryToken && hosts.contains(where: next.isAt) ? next : nil
        }
        itinerary.connectionEnded(to: next)
        let asked = goodbye?.after.map { Duration.milliseconds($0) }
        let pause = backoff.ended(held: held, asked: asked, using: &random)
        return .retry(after: pause, freshToken: false, because: reason)
    }
}

extension RollcallError {
    /// Creates the error for a goodbye after which the client must not reconnect.
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
