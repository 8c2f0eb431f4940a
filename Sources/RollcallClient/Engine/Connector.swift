// The life of the connection: a token, a wire, hello, welcome, and after each end what ``Reconnecting`` decides. There
// is at most one attempt at a time; events of an earlier attempt's wire are ignored.

import NIOCore

/// Keeps the client connected. Used on its loop only.
final class Connector {
    private enum Stage {
        case idle
        case authenticating
        case opening(any Wire, Attempt)
        /// The hello was sent.
        case greeting(any Wire, Attempt)
        case connected(any Wire, Liveness, since: ContinuousClock.Instant)
        case waiting
        case failed
        case closed
    }

    /// The current attempt to connect, from the call of `dial` to the welcome.
    private struct Attempt {
        let began: ContinuousClock.Instant
        let end: ContinuousClock.Instant
        /// Whether the network has changed since, but too soon to begin again.
        var isOutdated = false
    }

    private let loop: any EventLoop
    private let clock: SteadyClock
    private let options: ClientOptions
    private let device: DeviceID?
    private let tokens: TokenSource
    private let dial: Dial
    private unowned let owner: any ConnectorOwner
    /// `nil` if there is no URL, or one is invalid.
    private var reconnecting: Reconnecting?
    /// Why the client connects nowhere.
    private let mistake: RollcallError?
    private var stage = Stage.idle
    /// How often changes of the network have restarted attempts since the last one that ended otherwise.
    private var restarts = 0
    private var token: (text: String, since: ContinuousClock.Instant)?
    /// The current call of the token callback.
    private var asking: TokenSource.Question?
    /// The number of the latest question. An answer to an earlier one is ignored.
    private var question = 0
    private var tokenCalls = RunningCalls()
    /// What a question does with its answer that waits until one of too many calls returns.
    private var postponed: ((Result<String, any Error>) -> Void)?
    /// Whether a call of the token callback has not returned, even if its time limit has passed.
    private(set) var isAwaitingToken = false
    /// When each unanswered ping was sent.
    private var pings: [ContinuousClock.Instant] = []
    private var random: Jitter
    private lazy var refreshAlarm = Alarm(on: loop, by: clock) { [unowned self] in refreshToken() }
    private lazy var alarm = Alarm(on: loop, by: clock) { [unowned self] in deadlinePassed() }

    /// - Parameter itinerary: `nil` if there is no URL, or one is invalid.
    init(
        to itinerary: Itinerary<WorkerAddress>?, device: DeviceID?, options: ClientOptions,
        token: TokenSource, dial: @escaping Dial, on loop: any EventLoop, by clock: SteadyClock, jitter: Jitter,
        owner: any ConnectorOwner
    ) {
        self.loop = loop
        self.clock = clock
        self.options = options
        self.device = device
        self.owner = owner
        self.dial = dial
        tokens = token
        random = jitter
        mistake = RollcallError(connectingTo: itinerary, options)
        reconnecting = itinerary.map {
            Reconnecting(
                $0, allowing: options.workerHosts, allowsUnencrypted: options.allowsUnencryptedConnections,
                backoff: Backoff(first: options.firstPause, longest: options.longestPause))
        }
    }

    private var wire: (any Wire)? {
        switch stage {
        case .opening(let wire, _), .greeting(let wire, _), .connected(let wire, _, _): wire
        case .idle, .authenticating, .waiting, .failed, .closed: nil
        }
    }

    /// Whether messages may be sent.
    var isOpen: Bool {
        switch stage {
        case .greeting, .connected: true
        case .idle, .authenticating, .opening, .waiting, .failed, .closed: false
        }
    }

    func connect() {
        switch stage {
        case .idle, .failed, .waiting: begin()
        case .authenticating, .opening, .greeting, .connected, .closed: break
        }
    }

    func send(_ requests: [ClientRequest]) {
        guard isOpen, let wire else { return }
        for request in requests { wire.send(request) }
        wire.flush()
    }

    /// Handles a reason to doubt the connection, or to reconnect at once.
    func networkChanged() {
        switch stage {
        case .waiting, .authenticating:
            begin()
        case .connected(let wire, var liveness, let since):
            let judgement = liveness.doubted(at: clock.now)
            stage = .connected(wire, liveness, since: since)
            follow(judgement, liveness)
        case .opening(let wire, var attempt):
            if !isTooEarly(&attempt) { return restart(over: wire) }
            stage = .opening(wire, attempt)
        case .greeting(let wire, var attempt):
            if !isTooEarly(&attempt) { return restart(over: wire) }
            stage = .greeting(wire, attempt)
        case .idle, .failed, .closed:
            break
        }
    }

    /// Returns whether the attempt, whose path may be dead, has not lasted a second yet; if so, it is restarted then.
    /// With each restart, this time doubles: an app may report changes in a loop, and must neither connect in that loop
    /// nor prevent every attempt.
    private func isTooEarly(_ attempt: inout Attempt) -> Bool {
        let due = attempt.began + .seconds(1 << min(restarts, 6))
        guard clock.now < due else { return false }
        attempt.isOutdated = true
        alarm.set(min(due, attempt.end))
        return true
    }

    /// Begins the attempt again, at the same address. This is not a failure.
    private func restart(over wire: any Wire) {
        restarts += 1
        wire.abort()
        let wasOpen = isOpen
        stage = .waiting
        if wasOpen { owner.connectionLost() }
        begin()
    }

    /// Asks the worker for its time, unless a ping is unanswered. No timer waits for this answer: a busy worker may be
    /// slow.
    func askTime() {
        if case .connected = stage, pings.isEmpty { ping() }
    }

    private func ping() {
        pings.append(clock.now)
        send([ClientRequest(.ping)])
    }

    /// Closes the client's connection for good, after a goodbye if it is open. Then calls `done`.
    func close(_ done: @escaping () -> Void) {
        send([ClientRequest(.goodbye)])
        let wire = self.wire
        alarm.set(nil)
        refreshAlarm.set(nil)
        withdrawQuestion()
        change(to: .closed, .closed)
        wire.map { $0.close(done) } ?? done()
    }
}

// Connection attempts.
extension Connector {
    private func begin() {
        alarm.set(nil)
        dropExpiredToken()
        if let mistake { return change(to: .failed, .failed(mistake)) }
        token == nil ? authenticate() : open()
    }

    private func authenticate() {
        change(to: .authenticating, .connecting)
        alarm.set(clock.now + options.connectTimeout)
        askForToken { [self] in tokenCame($0) }
    }

    private func tokenCame(_ result: Result<String, any Error>) {
        switch result {
        case .success(let text):
            token = (text, clock.now)
            open()
        case .failure(let error):
            if let next = reconnecting?.tokenFailed(error, using: &random) { follow(next) }
        }
    }

    private func open() {
        reconnecting?.opening()
        guard let reconnecting else { return }
        pings = []
        let end = clock.now + reconnecting.timeLimit(atMost: options.connectTimeout)
        let attempt = Attempt(began: clock.now, end: end)
        change(to: .opening(dial(reconnecting.address, loop, self), attempt), .connecting)
        alarm.set(attempt.end)
    }

    private func follow(_ next: Reconnecting.Next) {
        switch next {
        case .giveUp(let error):
            token = nil
            change(to: .failed, .failed(error))
        case .retry(let pause, let freshToken, let reason):
            if freshToken { token = nil }
            change(to: .waiting, .waiting(pause, because: reason))
            alarm.set(clock.now + pause)
        }
    }

    private func ended(_ ending: Ending) {
        let wasOpen = isOpen
        var held = Duration.zero
        if case .connected(_, _, let since) = stage { held = clock.now - since }
        restarts = 0
        alarm.set(nil)
        refreshAlarm.set(nil)
        withdrawQuestion()
        let age = token.map { clock.now - $0.since } ?? .zero
        guard let next = reconnecting?.ended(ending, held: held, tokenAge: age, using: &random) else { return }
        stage = .waiting
        if wasOpen { owner.connectionLost() }
        follow(next)
    }

    private func deadlinePassed() {
        switch stage {
        case .waiting:
            begin()
        case .authenticating:
            withdrawQuestion()
            isAwaitingToken = true
            tokenCame(.failure(NoAnswer()))
        case .opening(let wire, let attempt), .greeting(let wire, let attempt):
            if attempt.isOutdated, clock.now < attempt.end { return restart(over: wire) }
            wire.abort()
            ended(.notReached(NoAnswer()))
        case .connected(let wire, var liveness, let since):
            let judgement = liveness.deadlinePassed(at: clock.now)
            stage = .connected(wire, liveness, since: since)
            follow(judgement, liveness)
        case .idle, .failed, .closed:
            break
        }
    }

    private func follow(_ judgement: Liveness.Judgement, _ liveness: Liveness) {
        alarm.set(liveness.deadline)
        switch judgement {
        case .alive:
            break
        case .ask:
            ping()
        case .dead:
            wire?.abort()
            ended(.lost(NoAnswer()))
        }
    }

    private func change(to stage: Stage, _ state: ConnectionState) {
        self.stage = stage
        owner.connectionStateChanged(to: state)
    }

    /// An expected answer did not arrive in time.
    struct NoAnswer: Error, CustomStringConvertible {
        var description: String { "no answer in time" }
    }
}

extension Connector: WireOwner {
    func wireOpened(_ wire: any Wire) {
        guard case .opening(let current, let attempt) = stage, wire === current, let token else { return }
        change(to: .greeting(wire, attempt), .connecting)
        send([ClientRequest(.hello(.init(token: token.text, device: device, state: owner.deviceState)))])
        owner.connectionOpened()
    }

    func wireHeard(_ wire: any Wire) {
        judge(wire) { $0.heard(at: clock.now) }
    }

    private func judge(_ wire: any Wire, _ event: (inout Liveness) -> Void) {
        guard case .connected(let current, var liveness, let since) = stage, wire === current else { return }
        event(&liveness)
        stage = .connected(wire, liveness, since: since)
        alarm.set(liveness.deadline)
    }

    func wireReceived(_ wire: any Wire, _ message: ServerMessage) {
        guard wire === self.wire, isOpen else { return }
        switch message {
        case .welcome(let welcome):
            welcomed(welcome, on: wire)
        case .goodbye(let goodbye):
            reconnecting?.goodbyeReceived(goodbye)
        case .pong(let time):
            let asked = pings.isEmpty ? clock.now : pings.removeFirst()
            // An answer to an earlier ping may have been sent before the connection died, so only the last one counts.
            if pings.isEmpty { judge(wire) { $0.answered(at: clock.now) } }
            owner.timeHeard(time, age: clock.now - asked)
        case .presence, .typing, .members, .removed, .ack, .error:
            owner.messageReceived(message)
        }
    }

    func wireEnded(_ wire: any Wire, how ending: Ending) {
        if wire === self.wire { ended(ending) }
    }

    private func welcomed(_ welcome: ServerMessage.Welcome, on wire: any Wire) {
        guard case .greeting = stage else { return }
        restarts = 0
        reconnecting?.welcomed()
        let ping = Duration.milliseconds(min(max(welcome.ping, 100), 3_600_000))
        let liveness =
            wire.mayDieSilently ? Liveness(ping: ping, slack: options.silenceSlack, at: clock.now) : Liveness()
        alarm.set(nil)
        owner.welcomed(welcome)
        let session = Session(
            user: welcome.user, device: welcome.device, session: welcome.session, worker: welcome.worker)
        change(to: .connected(wire, liveness, since: clock.now), .connected(session))
        alarm.set(liveness.deadline)
        planRefresh()
    }
}

// Fetching a fresh token before the current one expires.
extension Connector {
    /// - Parameter answered: called unless the question is replaced or withdrawn first.
    private func askForToken(_ answered: @escaping (Result<String, any Error>) -> Void) {
        withdrawQuestion()
        isAwaitingToken = true
        guard !tokenCalls.isFull else {
            postponed = answered
            return
        }
        tokenCalls.began()
        let heard = NIOLoopBound((connector: self, answered: answered), eventLoop: loop)
        asking = tokens.ask { [question] result in
            heard.eventLoop.execute {
                let (connector, answered) = heard.value
                connector.tokenCalls.returned()
                if question == connector.question {
                    connector.withdrawQuestion()
                    answered(result)
                } else if let postponed = connector.postponed {
                    connector.askForToken(postponed)
                }
            }
        }
    }

    /// Ends the current question. Its answer is ignored.
    private func withdrawQuestion() {
        question += 1
        asking?.cancel()
        asking = nil
        postponed = nil
        isAwaitingToken = false
    }

    /// Drops the token if it has expired by its own expiry and the worker's time. If the client cannot tell, the worker
    /// rejects the token (4101).
    private func dropExpiredToken() {
        if let life = token.flatMap({ TokenLife(of: $0.text) }), let now = owner.serverTime, life.expires <= now {
            token = nil
        }
    }

    private func planRefresh() {
        guard let life = token.flatMap({ TokenLife(of: $0.text) }), let now = owner.serverTime,
            let pause = life.refresh(at: now, using: &random)
        else { return }
        refreshAlarm.set(clock.now + pause)
    }

    /// Asks for a fresh token, and again if the app does not answer in time.
    private func refreshToken() {
        askForToken { [self] in refreshed(try? $0.get()) }
        refreshAlarm.set(clock.now + options.connectTimeout)
    }

    /// - Parameter fresh: `nil` if the app gave no token. The old one is still valid for a while.
    private func refreshed(_ fresh: String?) {
        if let fresh, isFresher(fresh) {
            token = (fresh, clock.now)
            refreshAlarm.set(nil)
            owner.tokenRefreshed(fresh)
            planRefresh()
        } else {
            refreshAlarm.set(clock.now + TokenLife.pause)
        }
    }

    /// Whether a token expires later than the current one. A token without a known expiry counts as fresher.
    private func isFresher(_ fresh: String) -> Bool {
        guard let new = TokenLife(of: fresh), let old = token.flatMap({ TokenLife(of: $0.text) }) else { return true }
        return new.expires > old.expires
    }
}
