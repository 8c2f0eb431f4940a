// The life of the connection: a token, a wire, hello, welcome, and after each end what ``Route`` decides. There is at
// most one attempt at a time; events of an earlier attempt's wire are ignored.

/// Keeps the client connected. Used on its queue only.
final class Connection: @unchecked Sendable {
    private enum Stage {
        case idle
        case authenticating
        case opening(any Wire)
        /// The hello was sent.
        case greeting(any Wire)
        /// `Liveness` is `nil` for a wire whose end is always reported, so that silence means nothing.
        case connected(any Wire, Liveness?, since: ContinuousClock.Instant)
        /// A worker may have asked for the pause.
        case waiting(isAsked: Bool)
        /// Waits longer, since a worker refused the session.
        case refused
        case failed
        case closed
    }

    /// How old an attempt must be to begin again when the network changes, which it does once.
    private static let oldAttempt = Duration.seconds(2)
    /// How often at most the user's return ends a pause that a worker asked for.
    private static let returnPause = Duration.seconds(10)
    /// The pauses after a refresh of the token failed, while the present one is still valid.
    private static let newRefreshPauses = Backoff.considerate(first: .seconds(5))

    private unowned let engine: Engine
    private let options: ClientOptions
    /// The app's name for this device; `nil` if it gave none.
    private let device: DeviceID?
    /// Of this client alone, so that two never end each other, and never stored. Used unless the app or the token names one.
    private let drawnDevice: DeviceID
    private var tokens: TokenCalls!
    /// `nil` if the client connects nowhere, for the reason in `route`.
    private let dial: Dial?
    /// Or why the client connects nowhere.
    private var route: Result<Route, RollcallError>
    private var random: Jitter
    private var stage = Stage.idle
    private var stageEnd: ContinuousClock.Instant?
    private var refreshTime: ContinuousClock.Instant?
    private var refreshPauses = Connection.newRefreshPauses
    /// Whether the app is asked for a fresh token, and since when that fails because it has no network.
    private var isRefreshing = false
    private var unreachableSince: ContinuousClock.Instant?
    private var attemptBegan: ContinuousClock.Instant
    private var isRestarted = false
    private var token: String?
    /// The token of the present hello.
    private var greeted: String?
    /// The reason that the next call of the token callback gets.
    private var request = TokenRequest.first
    /// The user of the last session, until the app ends it: no token of another user may follow it.
    private var user: UserID?
    /// The code of the refusal that was reported last. Until something else is, attempts begin without a report.
    private var refusal: RollcallError.Code?
    /// When something last arrived.
    private(set) var lastHeard: ContinuousClock.Instant
    /// When each unanswered ping was sent.
    private var pings: [ContinuousClock.Instant] = []

    init(
        by way: Result<(Route, Dial), RollcallError>, device: DeviceID?, token: TokenSource, in engine: Engine
    ) {
        self.engine = engine
        self.device = device
        random = engine.random
        drawnDevice = (try? DeviceID("app-" + String(random.next(), radix: 36))) ?? "app"
        route = way.map(\.0)
        dial = try? way.get().1
        options = engine.options
        attemptBegan = engine.now
        lastHeard = engine.now
        tokens = TokenCalls(token, in: engine.environment) { [unowned self] in tokenCame($0) }
    }

    private var now: ContinuousClock.Instant { engine.now }

    private var wire: (any Wire)? {
        switch stage {
        case .opening(let wire), .greeting(let wire), .connected(let wire, _, _): wire
        case .idle, .authenticating, .waiting, .refused, .failed, .closed: nil
        }
    }

    /// Whether messages may be sent.
    var isOpen: Bool {
        switch stage {
        case .greeting, .connected: true
        case .idle, .authenticating, .opening, .waiting, .refused, .failed, .closed: false
        }
    }

    /// Whether there is a connection, or will be one without another call.
    var isActive: Bool {
        switch stage {
        case .authenticating, .opening, .greeting, .connected, .waiting, .refused: true
        case .idle, .failed, .closed: false
        }
    }

    /// Whether an answer is awaited that shows whether the connection is alive.
    var isDoubted: Bool {
        if case .connected(_, let liveness?, _) = stage { liveness.isAwaiting } else { false }
    }

    /// Whether a call of the token callback has not returned.
    var isAwaitingToken: Bool { tokens.isAsking }
    var deadline: ContinuousClock.Instant? { earliest(stageEnd, refreshTime) }

    func connect() {
        switch stage {
        // The user may have signed in again.
        case .idle, .failed, .refused:
            refusal = nil
            change { $0.outageBegan(at: now) }
            begin()
        case .waiting: returned()
        case .authenticating: hurry()
        case .opening, .greeting, .connected, .closed: break
        }
    }

    /// Handles that the user is back: only a pause that a worker asked for goes on, and not for long.
    func returned() {
        switch stage {
        case .refused, .waiting(isAsked: true):
            let soonest = max(now, attemptBegan + Self.returnPause)
            stageEnd = min(stageEnd ?? soonest, soonest)
            if soonest <= now { begin() } else { engine.changed() }
        default: hurry()
        }
    }

    /// Handles a reason to try now: a network, or a user who waits.
    private func hurry() {
        if tokens.isAsking { askForToken(patience: TokenCalls.shortPatience) }
        guard case .waiting(isAsked: false) = stage else { return }
        change { $0.outageBegan(at: now) }
        begin()
    }

    /// Sends messages in one write.
    func send(_ requests: [ClientRequest]) {
        guard !requests.isEmpty, isOpen, let wire else { return }
        for request in requests { wire.send(request) }
        wire.flush()
    }

    /// Handles a reason to doubt the connection, or to reconnect at once. An attempt over a path that may be dead begins
    /// again, once: an app may report changes in a loop.
    func networkChanged() {
        hurry()
        switch stage {
        case .connected:
            judge { $0.doubted(at: now) }
        case .opening, .greeting:
            guard !isRestarted, now >= attemptBegan + Self.oldAttempt else { return }
            end()
            isRestarted = true
            begin()
        case .idle, .authenticating, .waiting, .refused, .failed, .closed:
            break
        }
    }

    /// Asks the worker for its time, unless a ping is unanswered.
    func askTime() {
        if case .connected = stage, pings.isEmpty { ping() }
    }

    private func ping() {
        pings.append(now)
        engine.outbox.spend(at: now)
        send([ClientRequest(.ping)])
    }

    /// Closes the client's connection for good, after a goodbye if it is open. Then calls `done`.
    func close(_ done: @escaping () -> Void) {
        leave(for: .closed, .closed, done)
    }

    /// Ends the connection, after a goodbye if it is open, until ``connect()``. Then calls `done`.
    ///
    /// - Parameter forgets: whether the next connection may be another user's.
    func disconnect(forgets: Bool, _ done: @escaping () -> Void) {
        if forgets { user = nil }
        leave(for: .idle, .idle, done)
    }

    private func leave(for stage: Stage, _ state: ConnectionState, _ done: @escaping () -> Void) {
        send([ClientRequest(.goodbye)])
        let (wire, wasOpen) = (self.wire, isOpen)
        (self.stage, stageEnd, refreshTime) = (stage, nil, nil)
        (token, request, isRefreshing) = (nil, .first, false)
        tokens.forget()
        if wasOpen { engine.connectionLost() }
        become(stage, state)
        wire.map { $0.close(done) } ?? done()
    }

    func deadlinePassed(at now: ContinuousClock.Instant) {
        if let refreshTime, now >= refreshTime { refreshToken() }
        guard let stageEnd, now >= stageEnd else { return }
        switch stage {
        case .waiting, .refused:
            begin()
        case .authenticating:
            askForToken()
        case .opening, .greeting:
            change { $0.timedOut(atMost: options.connectTimeout) }
            ended(.notReached(NoAnswer()))
        case .connected:
            judge { $0.deadlinePassed(at: now) }
        case .idle, .failed, .closed:
            break
        }
    }

    private func become(_ stage: Stage, _ state: ConnectionState) {
        self.stage = stage
        engine.changed()
        switch state {
        case .connecting where refusal != nil: return
        case .failed(let error) where error.code == refusal: return
        case .failed(let error): refusal = error.retryIn == nil ? nil : error.code
        case .idle, .connecting, .connected, .waiting, .closed: refusal = nil
        }
        engine.connectionChanged(to: state)
    }

    /// Ends the wire, and what belongs to it.
    private func end() {
        let wasOpen = isOpen
        wire?.abort()
        (stage, stageEnd, refreshTime, isRefreshing) = (.waiting(isAsked: false), nil, nil, false)
        if wasOpen { engine.connectionLost() }
    }

    private func judge(_ event: (inout Liveness) -> Liveness.Judgement) {
        guard case .connected(let wire, var liveness?, let since) = stage else { return }
        let judgement = event(&liveness)
        stage = .connected(wire, liveness, since: since)
        stageEnd = liveness.deadline
        engine.changed()
        switch judgement {
        case .alive: break
        case .ask: ping()
        case .dead: ended(.lost(NoAnswer()))
        }
    }

    /// An expected answer did not arrive in time.
    struct NoAnswer: Error, CustomStringConvertible {
        var description: String { "no answer in time" }
    }
}

// Connection attempts.
extension Connection {
    private func begin() {
        if case .failure(let mistake) = route { return become(.failed, .failed(mistake)) }
        if let token, let now = engine.serverTime, TokenLife(of: token).map({ $0.expires <= now }) ?? false {
            (self.token, request) = (nil, .renewal)
        }
        guard token == nil else { return open() }
        become(.authenticating, .connecting)
        askForToken()
    }

    private func askForToken(patience: Duration = TokenCalls.patience) {
        tokens.ask(request, patience: patience)
        if case .authenticating = stage { stageEnd = tokens.deadline }
        if isRefreshing { refreshTime = tokens.deadline }
        engine.changed()
    }

    /// Handles an answer of the app, perhaps later than it was asked for: a token is used, unless a newer one is.
    private func tokenCame(_ result: Result<String, any Error>) {
        switch (stage, result) {
        case (.connected, .success(let fresh)): refreshed(fresh)
        case (.connected, .failure(let error)) where error.isSignedOut:
            send([ClientRequest(.goodbye)])
            end()
            decide { $0.tokenFailed(error, at: now, using: &random) }
        case (.connected, .failure(let error)): if isRefreshing { refreshFailed(error) }
        case (.authenticating, .success(let text)):
            token = text
            open()
        case (.authenticating, .failure(let error)):
            decide { $0.tokenFailed(error, at: now, using: &random) }
        case (_, .success(let text)): if token == nil || isFresher(text) { token = text }
        case (_, .failure): break
        }
    }

    private func open() {
        change { $0.opening() }
        guard case .success(let route) = route, let dial else { return }
        pings = []
        attemptBegan = now
        stageEnd = attemptBegan + route.timeLimit(atMost: options.connectTimeout)
        become(.opening(dial(route.address, self)), .connecting)
    }

    private func ended(_ ending: Ending) {
        var held = Duration.zero
        if case .connected(_, _, let since) = stage { held = now - since }
        end()
        decide { $0.ended(ending, held: held, at: now, using: &random) }
    }

    private func decide(_ event: (inout Route) -> Route.Next) {
        guard case .success(var route) = route else { return }
        let next = event(&route)
        self.route = .success(route)
        isRestarted = false
        switch next {
        case .giveUp(let error):
            tokens.forget()
            (token, stageEnd) = (nil, nil)
            request = error.closeCode == nil ? .first : .refused(error.code)
            become(.failed, .failed(error))
            if error.code == .anotherUser { engine.emptied() }
        case .retry(let pause, let isAsked, let freshToken, let reason):
            if freshToken { refuseToken(reason) }
            stageEnd = now + pause
            become(.waiting(isAsked: isAsked), .waiting(pause, because: reason))
            // A system may delay the timers of an app in the background.
            if pause == .zero, case .waiting = stage { begin() }
        case .refused(var error, let pause):
            refuseToken(error)
            stageEnd = now + pause
            error.retryIn = pause
            become(.refused, .failed(error))
        }
    }

    private func refuseToken(_ error: RollcallError) {
        token = nil
        if error.code != .tokenUnavailable { request = .refused(error.code) }
    }

    private func change(_ event: (inout Route) -> Void) {
        guard case .success(var route) = route else { return }
        event(&route)
        self.route = .success(route)
    }
}

extension Connection: WireOwner {
    func wireOpened(_ wire: any Wire) {
        guard case .opening(let current) = stage, wire === current, let token else { return }
        stage = .greeting(wire)
        greeted = token
        let device = device ?? (TokenClaims(of: token)?.namesDevice == true ? nil : drawnDevice)
        let hello = ClientMessage.Hello(
            token: ByteString(token), device: device, state: engine.deviceState, user: user)
        send([ClientRequest(.hello(hello))])
        engine.connectionOpened()
    }

    func wireHeard(_ wire: any Wire) {
        guard wire === self.wire else { return }
        lastHeard = now
        judge {
            $0.heard(at: now)
            return .alive
        }
    }

    func wireReceived(_ wire: any Wire, _ message: ServerMessage) {
        guard wire === self.wire, isOpen else { return }
        lastHeard = now
        switch message {
        case .welcome(let welcome):
            welcomed(welcome, on: wire)
        case .goodbye(let goodbye):
            change { $0.goodbyeReceived(goodbye) }
        case .pong(let time):
            let asked = pings.isEmpty ? now : pings.removeFirst()
            judge {
                $0.answered(asked, at: now)
                return .alive
            }
            if !isDoubted { engine.connectionConfirmed() }
            engine.timeHeard(time, age: now - asked)
        case .presence, .typing, .members, .here, .removed, .person, .ack, .error:
            engine.messageReceived(message)
        }
    }

    func wireEnded(_ wire: any Wire, how ending: Ending) {
        if wire === self.wire { ended(ending) }
    }

    private func welcomed(_ welcome: ServerMessage.Welcome, on wire: any Wire) {
        guard case .greeting = stage else { return }
        isRestarted = false
        (user, request) = (welcome.user, .renewal)
        change { $0.welcomed(reconnect: .milliseconds(welcome.reconnect)) }
        let interval = Duration.milliseconds(min(max(welcome.ping, 100), 3_600_000))
        let liveness = wire.mayDieSilently ? Liveness(interval: interval, at: now) : nil
        engine.welcomed(welcome)
        stageEnd = liveness?.deadline
        become(
            .connected(wire, liveness, since: now),
            .connected(
                Session(
                    user: welcome.user, device: welcome.device, session: welcome.session.string,
                    worker: welcome.worker.string)))
        // A later answer of the app, which came after the hello.
        if let token, token != greeted { engine.tokenRefreshed(token) }
        planRefresh(of: token)
    }
}

// Tokens.
extension Connection {
    /// A token is replaced before it expires, so that no session ends only because time has passed.
    private func planRefresh(of text: String?) {
        let life = text.flatMap { TokenLife(of: $0) }
        let pause = engine.serverTime.flatMap { life?.refresh(at: $0, using: &random) }
        refreshPauses = Self.newRefreshPauses
        refreshTime = pause.map { now + $0 }
        engine.changed()
    }

    /// Asks for a fresh token, and again if the app does not answer.
    private func refreshToken() {
        isRefreshing = true
        askForToken()
    }

    private func refreshed(_ fresh: String) {
        guard isFresher(fresh) else {
            if isRefreshing { refreshFailed(nil) }
            return
        }
        (isRefreshing, unreachableSince) = (false, nil)
        engine.tokenRefreshed(fresh)
        planRefresh(of: fresh)
    }

    /// Handles that there is no fresh token. The old one is still valid for a while.
    private func refreshFailed(_ error: (any Error)?) {
        isRefreshing = false
        unreachableSince = error?.isUnreachable == true ? unreachableSince ?? now : nil
        var pause = refreshPauses.tokenFailed(error, using: &random)
        if let unreachableSince, case .success(let route) = route {
            pause = route.pause(after: now - unreachableSince, using: &random)
        }
        refreshTime = now + pause
        engine.changed()
    }

    /// Handles the worker's answer to a fresh token. Until it is accepted, the present one stays in use, also for the next
    /// connection; if it is refused for good, the app is asked again.
    func freshTokenAnswered(_ fresh: String, accepted: Bool) {
        guard case .connected = stage else { return }
        if accepted {
            (token, request) = (fresh, .renewal)
        } else {
            request = .refused(.badToken)
            refreshFailed(nil)
        }
    }

    /// Whether a token is known to expire later than the current one.
    private func isFresher(_ fresh: String) -> Bool {
        guard let new = TokenLife(of: fresh), let old = token.flatMap({ TokenLife(of: $0) }) else { return false }
        return new.expires > old.expires
    }
}
