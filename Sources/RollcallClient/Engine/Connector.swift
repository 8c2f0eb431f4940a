// The life of the connection: a token, a wire, hello, welcome, and after each end whatever ``Reconnecting`` decides.
// There is at most one attempt at a time, and what a wire of an earlier one says is not heard.

import NIOCore

/// What the connector tells the engine.
protocol ConnectorOwner: AnyObject {
    /// What the hello says of the device.
    var deviceState: DeviceState { get }
    /// The hello is sent; more may follow at once.
    func connectionOpened()
    func welcomed(_ welcome: ServerMessage.Welcome)
    /// The worker's time now; `nil` before the first welcome.
    var serverTime: Timestamp? { get }
    /// There is a fresh token for the session that stands.
    func tokenRefreshed(_ token: String)
    func messageReceived(_ message: ServerMessage)
    /// A connection that had opened is gone.
    func connectionLost()
    func connectionStateChanged(to state: ConnectionState)
}

/// Keeps the client connected. Used on its loop only.
final class Connector {
    private enum Stage {
        case idle
        case authenticating(Task<Void, Never>)
        case opening(any Wire)
        /// The hello is sent.
        case greeting(any Wire)
        case connected(any Wire, Liveness, since: ContinuousClock.Instant)
        case waiting
        case failed
        case closed
    }

    private let loop: any EventLoop
    private let clock: SteadyClock
    private let options: ClientOptions
    private let device: DeviceID?
    private let fetchToken: TokenCallback
    private let dial: Dial
    private unowned let owner: any ConnectorOwner
    /// `nil` where there is no URL, or one is none.
    private var reconnecting: Reconnecting?
    private var stage = Stage.idle
    private var token: String?
    /// Tells the current attempt's token from one that comes too late.
    private var attempt = 0
    private var random = SystemRandomNumberGenerator()
    private var refresh: Task<Void, Never>?
    private lazy var refreshAlarm = Alarm(on: loop, by: clock) { [unowned self] in refreshToken() }
    private lazy var alarm = Alarm(on: loop, by: clock) { [unowned self] in deadlinePassed() }

    /// - Parameter itinerary: `nil` where there is no URL, or one is none.
    init(
        to itinerary: Itinerary<WorkerAddress>?, device: DeviceID?, options: ClientOptions,
        token: @escaping TokenCallback,
        dial: @escaping Dial, on loop: any EventLoop, by clock: SteadyClock, owner: any ConnectorOwner
    ) {
        self.loop = loop
        self.clock = clock
        self.options = options
        self.device = device
        self.owner = owner
        self.dial = dial
        fetchToken = token
        reconnecting = itinerary.map {
            Reconnecting($0, backoff: Backoff(first: options.firstPause, longest: options.longestPause))
        }
    }

    private var wire: (any Wire)? {
        switch stage {
        case .opening(let wire), .greeting(let wire), .connected(let wire, _, _): wire
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

    /// Whether the app was asked for a token and has not given one yet.
    var isAwaitingToken: Bool {
        if case .authenticating = stage { return true }
        return refresh != nil
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

    /// There is reason to doubt the connection, or to try again at once.
    func networkChanged() {
        switch stage {
        case .waiting:
            begin()
        case .connected(let wire, var liveness, let since):
            let judgement = liveness.doubted(at: clock.now)
            stage = .connected(wire, liveness, since: since)
            follow(judgement, liveness)
        case .idle, .authenticating, .opening, .greeting, .failed, .closed:
            break
        }
    }

    /// Ends for good, with a goodbye where there is somebody to hear it; then calls `done`.
    func close(_ done: @escaping () -> Void) {
        if case .authenticating(let task) = stage { task.cancel() }
        send([ClientRequest(.goodbye)])
        let wire = self.wire
        attempt += 1
        alarm.set(nil)
        endRefresh()
        change(to: .closed, .closed)
        wire.map { $0.close(done) } ?? done()
    }
}

// The attempt.
extension Connector {
    private func begin() {
        attempt += 1
        alarm.set(nil)
        guard reconnecting != nil else {
            let error = RollcallError(
                .invalidURL, "a URL must be ws://HOST or wss://HOST, with port and path at will")
            return change(to: .failed, .failed(error))
        }
        token.map(open(with:)) ?? authenticate()
    }

    private func authenticate() {
        let connector = NIOLoopBound(self, eventLoop: loop)
        let task = Task { [fetchToken, attempt] in
            let result: Result<String, any Error>
            do { result = .success(try await fetchToken()) } catch { result = .failure(error) }
            connector.eventLoop.execute { connector.value.tokenCame(result, in: attempt) }
        }
        change(to: .authenticating(task), .connecting)
    }

    private func tokenCame(_ result: Result<String, any Error>, in attempt: Int) {
        guard attempt == self.attempt else { return }
        switch result {
        case .success(let token):
            self.token = token
            open(with: token)
        case .failure(let error):
            if let next = reconnecting?.tokenFailed(error, using: &random) { follow(next) }
        }
    }

    private func open(with token: String) {
        guard let reconnecting else { return }
        change(to: .opening(dial(reconnecting.address, loop, self)), .connecting)
        alarm.set(clock.now + reconnecting.timeLimit(atMost: options.connectTimeout))
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
        alarm.set(nil)
        endRefresh()
        guard let next = reconnecting?.ended(ending, held: held, using: &random) else { return }
        stage = .waiting
        if wasOpen { owner.connectionLost() }
        follow(next)
    }

    private func deadlinePassed() {
        switch stage {
        case .waiting:
            begin()
        case .opening(let wire), .greeting(let wire):
            wire.abort()
            ended(.notReached(NoAnswer()))
        case .connected(let wire, var liveness, let since):
            let judgement = liveness.deadlinePassed(at: clock.now)
            stage = .connected(wire, liveness, since: since)
            follow(judgement, liveness)
        case .idle, .authenticating, .failed, .closed:
            break
        }
    }

    private func follow(_ judgement: Liveness.Judgement, _ liveness: Liveness) {
        alarm.set(liveness.deadline)
        switch judgement {
        case .alive:
            break
        case .ask:
            send([ClientRequest(.ping)])
        case .dead:
            wire?.abort()
            ended(.lost(NoAnswer()))
        }
    }

    private func change(to stage: Stage, _ state: ConnectionState) {
        self.stage = stage
        owner.connectionStateChanged(to: state)
    }

    /// Nothing came in the time in which something should have.
    struct NoAnswer: Error, CustomStringConvertible {
        var description: String { "no answer in time" }
    }
}

extension Connector: WireOwner {
    func wireOpened(_ wire: any Wire) {
        guard wire === self.wire, let token else { return }
        change(to: .greeting(wire), .connecting)
        send([ClientRequest(.hello(.init(token: token, device: device, state: owner.deviceState)))])
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
        case .pong:
            judge(wire) { $0.answered(at: clock.now) }
            owner.messageReceived(message)
        case .presence, .typing, .members, .removed, .ack, .error:
            owner.messageReceived(message)
        }
    }

    func wireEnded(_ wire: any Wire, how ending: Ending) {
        if wire === self.wire { ended(ending) }
    }

    private func welcomed(_ welcome: ServerMessage.Welcome, on wire: any Wire) {
        guard case .greeting = stage else { return }
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

// A fresh token before the old one expires.
extension Connector {
    private func planRefresh() {
        guard let life = token.flatMap(TokenLife.init), let now = owner.serverTime,
            let pause = life.refresh(at: now, using: &random)
        else { return }
        refreshAlarm.set(clock.now + pause)
    }

    private func refreshToken() {
        let connector = NIOLoopBound(self, eventLoop: loop)
        refresh = Task { [fetchToken, attempt] in
            let fresh = try? await fetchToken()
            connector.eventLoop.execute { connector.value.refreshed(fresh, in: attempt) }
        }
    }

    /// - Parameter fresh: `nil` if the app gave none; the old one is good for a while yet.
    private func refreshed(_ fresh: String?, in attempt: Int) {
        guard attempt == self.attempt, refresh != nil else { return }
        refresh = nil
        if let fresh, isFresher(fresh) {
            token = fresh
            owner.tokenRefreshed(fresh)
            planRefresh()
        } else {
            refreshAlarm.set(clock.now + TokenLife.pause)
        }
    }

    /// What does not say when it expires is taken as it is.
    private func isFresher(_ fresh: String) -> Bool {
        guard let new = TokenLife(of: fresh), let old = token.flatMap(TokenLife.init) else { return true }
        return new.expires > old.expires
    }

    private func endRefresh() {
        refreshAlarm.set(nil)
        refresh?.cancel()
        refresh = nil
    }
}
