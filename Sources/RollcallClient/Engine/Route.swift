// Where and when to connect next, or whether to give up. Close codes from 4100 to 4199 mean that something must be fixed
// first. After anything else the client reconnects, when and where the worker asked.

/// How a connection or a connection attempt ended.
package enum Ending {
    /// No worker answered.
    case notReached((any Error)?)
    /// The connection ended without a close frame, or nothing arrived for too long.
    case lost((any Error)?)
    /// The worker's sentence may be empty.
    case closed(CloseCode, because: String = "")
}

/// Pauses between attempts: exponential and random, so that the clients of a lost worker do not all reconnect at once.
struct Backoff {
    /// No pause is longer, so that doubling cannot overflow, whatever an app sets.
    private static let year = Duration.seconds(365 * 86_400)
    /// The longest that a worker or a token server may make a client wait. A longer request is more likely an error.
    static let longestWait = Duration.seconds(300)

    private let first: Duration
    private let longest: Duration
    private let isConsiderate: Bool
    private var failures = 0

    /// - Parameter isConsiderate: whether no pause is shorter than half its limit, for what is asked by many and is ill.
    init(first: Duration, longest: Duration, isConsiderate: Bool = false) {
        self.first = min(first, Self.year)
        self.longest = min(longest, Self.year)
        self.isConsiderate = isConsiderate
    }

    /// For a token server, or a worker, that has asked for fewer requests.
    static func considerate(first: Duration) -> Backoff {
        Backoff(first: first, longest: .seconds(15), isConsiderate: true)
    }

    mutating func reset() {
        failures = 0
    }

    /// Returns the pause after another failure: random, up to a limit that doubles with each failure.
    mutating func failed(using random: inout Jitter) -> Duration {
        let limit = max(0, min(longest, first * (1 << min(failures, 20))).milliseconds)
        failures += 1
        return .milliseconds(Int64.random(in: (isConsiderate ? limit / 2 : 0)...limit, using: &random))
    }

    /// Returns the pause after another failure of the token callback, which may have asked for more.
    mutating func tokenFailed(_ error: (any Error)?, using random: inout Jitter) -> Duration {
        let asked = (error as? TokenUnavailable)?.retryAfter ?? .zero
        return min(max(.zero, min(asked, Self.longestWait)) + failed(using: &random), Self.longestWait)
    }
}

/// The worker addresses that a client knows, and what follows when a connection ends.
struct Route {
    enum Next: Equatable {
        case retry(after: Duration, freshToken: Bool, because: RollcallError)
        case giveUp(RollcallError)
    }

    /// The upper limit of the first pause.
    private static let firstPause = Duration.milliseconds(250)
    /// A token that is rejected as expired within this time after the app returned it was never fresh.
    private static let freshness = Duration.seconds(60)
    /// How long a connection must last for the pauses to start again from the shortest. Otherwise a worker that accepts
    /// and drops connections would be tried again and again without growing pauses.
    private static let steady = Duration.seconds(5)
    /// The time limit of an attempt doubles up to this: a network may be slow.
    private static let longestAttempt = Duration.seconds(40)
    /// The time limit of an attempt while there is another address to try; it doubles with each round of all. A device
    /// that is sent to a worker which does not answer is then connected elsewhere within the default grace period.
    private static let patience = Duration.seconds(2)

    private let homes: [WorkerAddress]
    /// The only hosts to which a worker may redirect the client, since the token goes along.
    private let hosts: [String]
    /// Whether a worker may also redirect the client to `ws://` addresses of other machines.
    private let allowsUnencrypted: Bool
    private var turn = 0
    /// How many attempts have failed since the last welcome.
    private var failures = 0
    /// How many attempts have run into the app's time limit since the last welcome.
    private var timeouts = 0
    /// The address to which a worker redirected the client. It is tried once, before the app's.
    private var invitation: WorkerAddress?
    private var backoff: Backoff
    /// After the token callback has failed, or a worker has asked for fewer attempts (429, 4002).
    private var considerate = Backoff.considerate(first: Self.firstPause)
    /// What the worker announced before it closed.
    private var goodbye: ServerMessage.Goodbye?
    /// Whether a fresh token was requested after close code 4101, and no welcome has arrived since.
    private var refreshed = false
    /// How often workers did not have the token's key since the last welcome.
    private var unknownKeys = 0

    /// For a worker that is reached without an address.
    init(_ options: ClientOptions) {
        self.init([.here], options)
    }

    /// Shuffles the addresses, so that clients spread over several workers.
    init(urls: [String], _ options: ClientOptions, using random: inout Jitter) throws(RollcallError) {
        let homes = urls.compactMap(WorkerAddress.init)
        guard !homes.isEmpty, homes.count == urls.count else {
            throw RollcallError(.invalidURL, "a URL must be ws://HOST or wss://HOST, with port and path at will")
        }
        if !options.allowsUnencryptedConnections, let exposed = homes.first(where: { !$0.isPrivate }) {
            throw RollcallError(
                .invalidURL,
                "ws://\(exposed.authority) would send the user's token unencrypted: use wss://, or set "
                    + "allowsUnencryptedConnections of ClientOptions")
        }
        self.init(homes.shuffled(using: &random), options)
    }

    private init(_ homes: [WorkerAddress], _ options: ClientOptions) {
        self.homes = homes
        hosts = homes.map(\.host) + options.workerHosts
        allowsUnencrypted = options.allowsUnencryptedConnections
        backoff = Backoff(first: Self.firstPause, longest: options.longestPause)
    }

    /// The address for the next attempt.
    var address: WorkerAddress { invitation ?? homes[turn] }

    /// The time limit of that attempt.
    func timeLimit(atMost limit: Duration) -> Duration {
        let longest = patient(limit)
        guard invitation != nil || homes.count > 1 else { return longest }
        return min(longest, Self.patience * (1 << min(failures / homes.count, 20)))
    }

    /// The app's time limit, longer after each attempt that ran into it.
    func patient(_ limit: Duration) -> Duration {
        limit >= Self.longestAttempt ? limit : min(limit * (1 << min(timeouts, 10)), Self.longestAttempt)
    }

    /// Handles that an attempt took its whole time. One that was short because there are other addresses does not count.
    mutating func timedOut(atMost limit: Duration) {
        if timeLimit(atMost: limit) == patient(limit) { timeouts += 1 }
    }

    /// Handles the start of an attempt. A goodbye belongs to one connection.
    mutating func opening() {
        goodbye = nil
    }

    mutating func welcomed() {
        refreshed = false
        (failures, timeouts, unknownKeys) = (0, 0, 0)
    }

    mutating func goodbyeReceived(_ goodbye: ServerMessage.Goodbye) {
        self.goodbye = goodbye
    }

    /// Handles an error of the token callback. A ``RollcallError`` that no retry can fix is final; after others, the
    /// client retries.
    mutating func tokenFailed(_ error: any Error, using random: inout Jitter) -> Next {
        if let mistake = error as? RollcallError, !mistake.retry { return .giveUp(mistake) }
        let reason = RollcallError(.tokenUnavailable, "the app gave no token", underlying: error)
        return .retry(after: considerate.tokenFailed(error, using: &random), freshToken: true, because: reason)
    }

    /// - Parameters:
    ///   - held: how long the connection lasted since its welcome.
    ///   - tokenAge: how long ago the app returned the token.
    mutating func ended(_ ending: Ending, held: Duration, tokenAge: Duration, using random: inout Jitter) -> Next {
        let goodbye = self.goodbye
        self.goodbye = nil
        switch ending {
        case .notReached(let error):
            return notReached(error, using: &random)
        case .lost(let error):
            let reason = RollcallError(.connectionLost, "the connection was lost", underlying: error)
            return connectionEnded(goodbye, held: held, because: reason, using: &random)
        case .closed(.tokenExpired, _):
            let error = RollcallError(closedWith: .tokenExpired)
            if refreshed, tokenAge <= Self.freshness { return .giveUp(error) }
            refreshed = true
            leave(for: nil)
            return .retry(after: .zero, freshToken: true, because: error)
        case .closed(let code, let sentence) where !code.mayReconnect:
            return .giveUp(RollcallError(closedWith: code, sentence))
        case .closed(let code, let sentence):
            let why = sentence.isEmpty ? goodbye?.reason.rawValue ?? "" : sentence
            let reason = RollcallError(.asked, "the worker closed the connection", because: why, closeCode: code)
            return connectionEnded(goodbye, held: held, because: reason, using: &random)
        }
    }

    /// There is no pause until each address was tried.
    private mutating func notReached(_ error: (any Error)?, using random: inout Jitter) -> Next {
        let refusal = error as? UpgradeRefused
        let sentence = refusal.map { "\($0)" } ?? "no worker answered"
        let reason = RollcallError(.unreachable, sentence, underlying: error)
        var pause = Duration.zero
        if invitation != nil {
            invitation = nil
        } else {
            turn = (turn + 1) % homes.count
            failures += 1
            if failures % homes.count == 0 {
                pause = refusal?.status == 429 ? considerate.failed(using: &random) : backoff.failed(using: &random)
            }
        }
        return .retry(after: pause, freshToken: false, because: reason)
    }

    private mutating func connectionEnded(
        _ goodbye: ServerMessage.Goodbye?, held: Duration, because reason: RollcallError, using random: inout Jitter
    ) -> Next {
        if let goodbye, !goodbye.reconnect { return .giveUp(RollcallError(goodbye)) }
        leave(for: goodbye?.to.flatMap { WorkerAddress($0.string) })
        if held >= Self.steady {
            backoff.reset()
            considerate.reset()
        }
        let pause = reason.closeCode == .busy ? considerate.failed(using: &random) : backoff.failed(using: &random)
        // A key that workers lack for long may be gone for good, and the app have a token with another by now.
        if goodbye?.reason == .unknownKey { unknownKeys += 1 }
        let isStale = goodbye?.reason == .unknownKey && unknownKeys.isMultiple(of: 2)
        let asked = goodbye?.after.map { min(max(.zero, Duration.milliseconds($0)), Backoff.longestWait) }
        return .retry(after: asked ?? pause, freshToken: isStale, because: reason)
    }

    /// The connection's worker may be gone, so the next address follows, or the one that the worker named.
    private mutating func leave(for next: WorkerAddress?) {
        let isAllowed = next.map { next in
            next.isTrusted(by: address) && (allowsUnencrypted || next.isPrivate) && hosts.contains(where: next.isAt)
        }
        invitation = isAllowed == true ? next : nil
        turn = (turn + 1) % homes.count
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
        default: self.init(.refused, "the worker ended the session: \(goodbye.reason.rawValue)")
        }
    }
}
