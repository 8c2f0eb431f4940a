// Where and when to connect next, or whether to give up. After close codes from 4100 to 4199 the client waits minutes, or for
// good; after anything else it reconnects soon, when and where the worker asked.

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
        /// - Parameter isAsked: whether a worker asked for the pause.
        case retry(after: Duration, isAsked: Bool, freshToken: Bool, because: RollcallError)
        /// A worker refused the session. The next attempt needs a fresh token.
        case refused(RollcallError, retryAfter: Duration)
        case giveUp(RollcallError)
    }

    /// A pause is random, from none to a tenth of the outage so far: at least to the floor that the worker's welcome names,
    /// between these two, and at most to the app's ``ClientOptions/longestPause``. So clients that lost a worker together spread
    /// more the longer it is away.
    private static let floors = Duration.milliseconds(250)...Duration.seconds(30)
    private static let part = 10
    /// How long a connection must last for the pauses to start again from the shortest. Otherwise a worker that accepts
    /// and drops connections would be tried again and again without growing pauses.
    private static let steady = Duration.seconds(5)
    /// The time limit of an attempt doubles up to this: a network may be slow.
    private static let longestAttempt = Duration.seconds(40)
    /// The time limit of an attempt while there is another address to try; it doubles with each round of all. A device
    /// that is sent to a worker which does not answer is then connected elsewhere within the default grace period.
    private static let patience = Duration.seconds(2)
    /// The pauses after a worker has refused the session; the last repeats. More by up to a quarter, at random.
    private static let refused = [60, 120, 240, 300].map { Duration.seconds($0) }
    private static let tooManySessions = Duration.seconds(15)

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
    private let longestPause: Duration
    private var floor = Duration.milliseconds(1500)
    /// When the outage began: the end of the last connection that had lasted, or a later reason to count anew.
    private var outageSince: ContinuousClock.Instant?
    /// Where short pauses would do harm: a token callback that fails, a worker without room, what somebody has to correct.
    private var considerate = Backoff.considerate(first: .milliseconds(250))
    /// What the worker announced before it closed.
    private var goodbye: ServerMessage.Goodbye?
    /// How often workers have refused the session since a connection lasted.
    private var refusals = 0
    /// Whether a fresh token was requested after close code 4101, and no welcome has arrived since.
    private var refreshed = false
    /// While workers do not take the token for what time may heal, and how often that was since the last welcome.
    private var tokenPauses = Backoff(first: .seconds(1), longest: Backoff.longestWait, isConsiderate: true)
    private var tokenRefusals = 0

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
        longestPause = options.longestPause
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

    /// Handles that the count of the outage begins anew.
    mutating func outageBegan(at now: ContinuousClock.Instant) {
        outageSince = now
    }

    /// Returns the pause in an outage that has lasted so long.
    func pause(after outage: Duration, using random: inout Jitter) -> Duration {
        let most = max(.zero, min(longestPause, max(floor, outage / Self.part), Self.floors.upperBound))
        return .milliseconds(Int64.random(in: 0...most.milliseconds, using: &random))
    }

    private mutating func nextPause(at now: ContinuousClock.Instant, using random: inout Jitter) -> Duration {
        let began = outageSince ?? now
        outageSince = began
        return pause(after: now - began, using: &random)
    }

    /// - Parameter reconnect: what the welcome names as the floor of pauses.
    mutating func welcomed(reconnect: Duration) {
        floor = min(max(reconnect, Self.floors.lowerBound), Self.floors.upperBound)
        refreshed = false
        (failures, timeouts, tokenRefusals) = (0, 0, 0)
        tokenPauses.reset()
    }

    mutating func goodbyeReceived(_ goodbye: ServerMessage.Goodbye) {
        self.goodbye = goodbye
    }

    /// Handles that the token callback threw, returned nothing or did not return. Only `bad_token` ends the attempts: the user
    /// is signed out.
    mutating func tokenFailed(
        _ error: any Error, at now: ContinuousClock.Instant, using random: inout Jitter
    ) -> Next {
        if error.isSignedOut, let error = error as? RollcallError { return .giveUp(error) }
        let reason = RollcallError(.tokenUnavailable, "the app gave no token", underlying: error)
        let pause =
            error.isUnreachable
            ? nextPause(at: now, using: &random) : considerate.tokenFailed(error, using: &random)
        return .retry(after: pause, isAsked: false, freshToken: true, because: reason)
    }

    /// - Parameter held: how long the connection lasted since its welcome.
    mutating func ended(
        _ ending: Ending, held: Duration, at now: ContinuousClock.Instant, using random: inout Jitter
    ) -> Next {
        let goodbye = self.goodbye
        self.goodbye = nil
        if held >= Self.steady {
            refusals = 0
            considerate.reset()
            outageBegan(at: now)
        }
        switch ending {
        case .notReached(let error):
            return notReached(error, at: now, using: &random)
        case .lost(let error):
            let reason = RollcallError(.connectionLost, "the connection was lost", underlying: error)
            return connectionEnded(goodbye, because: reason, at: now, using: &random)
        case .closed(let code, let sentence) where !code.mayReconnect:
            return refused(RollcallError(closedWith: code, sentence), using: &random)
        case .closed(let code, let sentence):
            let why = sentence.isEmpty ? goodbye?.reason.rawValue ?? "" : sentence
            let reason =
                code == .busy && goodbye?.reason.isAboutToken == true
                ? RollcallError(.badToken, "the worker does not take the token", because: why, closeCode: code)
                // Without a word of a worker, a proxy may have closed it.
                : RollcallError(
                    .asked,
                    goodbye == nil && why.isEmpty ? "the connection was closed" : "the worker closed the connection",
                    because: why, closeCode: code)
            return connectionEnded(goodbye, because: reason, at: now, using: &random)
        }
    }

    /// There is no pause until each address was tried.
    private mutating func notReached(
        _ error: (any Error)?, at now: ContinuousClock.Instant, using random: inout Jitter
    ) -> Next {
        let answer = error as? UpgradeRefused
        let sentence = answer.map { "\($0)" } ?? "no worker answered"
        let reason = RollcallError(.unreachable, sentence, underlying: error)
        var (pause, isAsked) = (Duration.zero, false)
        if invitation != nil {
            invitation = nil
        } else {
            turn = (turn + 1) % homes.count
            failures += 1
            if failures % homes.count == 0 { (pause, isAsked) = self.pause(after: answer, at: now, using: &random) }
        }
        return .retry(after: pause, isAsked: isAsked, freshToken: false, because: reason)
    }

    /// - Parameter answer: what answered instead of a WebSocket; `nil` if nothing did.
    private mutating func pause(
        after answer: UpgradeRefused?, at now: ContinuousClock.Instant, using random: inout Jitter
    ) -> (Duration, isAsked: Bool) {
        let meaning = answer?.meaning ?? .silence
        let asked = answer?.retryAfter ?? .zero
        if meaning == .full, asked > .zero {
            let extra = Duration.milliseconds(Int64.random(in: 0...(asked.milliseconds / 2), using: &random))
            return (min(asked + extra, Backoff.longestWait), true)
        }
        let pause =
            meaning == .silence ? nextPause(at: now, using: &random) : considerate.failed(using: &random)
        // A proxy may ask for a pause too, but it knows nothing of the workers.
        return (answer?.isOurs == true ? pause : max(pause, min(asked, Self.floors.upperBound)), false)
    }

    /// Handles that a worker refused the session. Only what nobody but the app can undo is final: a key, a clock or a limit
    /// may be as needed later.
    private mutating func refused(_ error: RollcallError, using random: inout Jitter) -> Next {
        if [.replaced, .sentAway, .anotherUser].contains(error.code) { return .giveUp(error) }
        leave(for: nil)
        if error.code == .tokenExpired {
            // A second one in a row means that the app has no other token yet.
            let pause = refreshed ? considerate.failed(using: &random) : .zero
            refreshed = true
            return .retry(after: pause, isAsked: true, freshToken: true, because: error)
        }
        let pause =
            error.code == .tooManySessions ? Self.tooManySessions : Self.refused[min(refusals, Self.refused.count - 1)]
        refusals += 1
        let extra = Duration.milliseconds(Int64.random(in: 0...(pause.milliseconds / 4), using: &random))
        return .refused(error, retryAfter: pause + extra)
    }

    private mutating func connectionEnded(
        _ goodbye: ServerMessage.Goodbye?, because reason: RollcallError, at now: ContinuousClock.Instant,
        using random: inout Jitter
    ) -> Next {
        if let goodbye, !goodbye.reconnect { return refused(RollcallError(goodbye), using: &random) }
        if reason.code == .badToken, let goodbye {
            return tokenRefused(goodbye, because: reason, using: &random)
        }
        leave(for: goodbye?.to.flatMap { WorkerAddress($0.string) })
        let isBusy = reason.closeCode == .busy
        let pause =
            goodbye?.pause
            ?? (isBusy ? considerate.failed(using: &random) : nextPause(at: now, using: &random))
        return .retry(after: pause, isAsked: goodbye?.pause != nil, freshToken: false, because: reason)
    }

    /// Handles that a worker does not take the token as long as its keys, its configuration, or the issuer's, or a clock are as
    /// they are. The app may have a token with another key by then, so every second time it is asked.
    private mutating func tokenRefused(
        _ goodbye: ServerMessage.Goodbye, because reason: RollcallError, using random: inout Jitter
    ) -> Next {
        leave(for: nil)
        tokenRefusals += 1
        let pause = max(goodbye.pause ?? .zero, tokenPauses.failed(using: &random))
        return .retry(after: pause, isAsked: true, freshToken: tokenRefusals.isMultiple(of: 2), because: reason)
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

extension ServerMessage.Goodbye {
    /// The pause that the worker asks for.
    fileprivate var pause: Duration? {
        after.map { min(max(.zero, Duration.milliseconds($0)), Backoff.longestWait) }
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
        case .anotherUser: self.init(closedWith: .anotherUser)
        default: self.init(.refused, "the worker ended the session: \(goodbye.reason.rawValue)")
        }
    }
}
