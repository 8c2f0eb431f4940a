// The heart of the client, on one event loop: it joins the decisions (what to tell the worker, what to show to whom) to
// the connection that carries them. Every public call hops here and returns at once.

import NIOConcurrencyHelpers
import NIOCore

/// What a client does, on its loop only.
final class Engine {
    let loop: any EventLoop
    let clock: SteadyClock
    let options: ClientOptions
    /// What is read from anywhere, without a hop.
    let shared: NIOLockedValueBox<Shared>
    private let makeConnector: (Engine) -> Connector

    private(set) lazy var connector = makeConnector(self)
    private lazy var attentionAlarm = Alarm(on: loop, by: clock) { [unowned self] in attentionDeadlinePassed() }
    private lazy var budgetAlarm = Alarm(on: loop, by: clock) { [unowned self] in flush() }
    private(set) lazy var names = NameBook(options.names, on: loop) { [unowned self] in nameLearnt(of: $0) }

    var agenda = Agenda()
    private var budget: MessageBudget
    private var isFlushDue = false
    private var welcome: ServerMessage.Welcome?
    private(set) var attention: Attention
    private var toldState: DeviceState?

    var presences: [UserID: Topic<Presence>] = [:]
    var rooms: [ConversationID: Room] = [:]
    var fields: [FieldID: InputField] = [:]
    var observers: [ObserverID: Observer] = [:]
    var fetches: [FetchID: FetchCall] = [:]
    var stops: [StopID: (Bool) -> Void] = [:]
    var pauses: [PauseID: Pause] = [:]
    var connection = Topic<ConnectionState>(latest: .idle)
    var problems: [ObserverID: (RollcallError) -> Void] = [:]
    private var isBeyondLimits = false
    private(set) var isClosed = false
    /// Who waits for the goodbye to have gone out; `nil` once it has.
    private var awaitingEnd: [() -> Void]? = []

    /// - Parameter connector: made at the first use, on the loop.
    init(
        options: ClientOptions, shared: NIOLockedValueBox<Shared>, on loop: any EventLoop, by clock: SteadyClock,
        connector: @escaping (Engine) -> Connector
    ) {
        self.options = options
        self.shared = shared
        self.loop = loop
        self.clock = clock
        budget = MessageBudget(at: clock.now)
        makeConnector = connector
        attention = Attention(idleAfter: options.idleAfter)
    }

    /// The state and the clock, as any thread may read them.
    struct Shared {
        var state = ConnectionState.idle
        var clock = ServerClock()
    }

    /// How long a signalled typing lasts at the worker.
    var typingExpiry: Duration { .milliseconds(min(max(welcome?.typing.expiry ?? 3000, 0), 3_600_000)) }

    /// Sends what is due at the end of this tick, so that what one tick undoes is never sent.
    func changed() {
        guard !isFlushDue, connector.isOpen else { return }
        isFlushDue = true
        loop.assumeIsolated().execute { [weak self] in
            self?.isFlushDue = false
            self?.flush()
        }
    }

    private func flush() {
        guard connector.isOpen else { return }
        let requests = agenda.take(budget.allowance(at: clock.now))
        budget.spend(requests.count)
        if !requests.isEmpty { connector.send(requests) }
        for request in requests { dropUnwanted(by: request.message) }
        budgetAlarm.set(agenda.hasMore ? budget.nextRoom() : nil)
        warnOfLimits()
    }

    private func warnOfLimits() {
        defer { isBeyondLimits = agenda.isBeyondLimits }
        if agenda.isBeyondLimits && !isBeyondLimits {
            report(RollcallError(.limit, "more users or conversations are observed than the worker serves a session"))
        }
    }

    func report(_ error: RollcallError) {
        for hear in problems.values { hear(error) }
    }

    /// Ends everything: the goodbye goes out, every stream finishes, every answer awaited is given as it stands.
    func close(_ done: @escaping () -> Void) {
        guard awaitingEnd?.append(done) != nil else { return done() }
        guard !isClosed else { return }
        isClosed = true
        for field in fields.keys { fieldEnded(field) }
        flush()
        connector.close { [self] in
            let waiting = awaitingEnd ?? []
            awaitingEnd = nil
            for done in waiting { done() }
        }
        names.close()
        for fetch in fetches.keys { endFetch(fetch) }
        endStops()
        for pause in pauses.keys { endPause(pause) }
        let finishing = observers.values
        observers = [:]
        (presences, rooms, fields, problems) = ([:], [:], [:], [:])
        attentionAlarm.set(nil)
        budgetAlarm.set(nil)
        for observer in finishing { observer.finish() }
    }
}

// The device's own state.
extension Engine {
    func phaseChanged(to phase: AppPhase) {
        let returned = phase == .active && attention.state == .background
        if phase == .background { endFields() }
        attention.phaseChanged(to: phase, at: clock.now)
        attentionChanged()
        // Whoever comes back to the front must not look at what a dead connection last brought (T16).
        if returned { connector.networkChanged() }
    }

    func stateSet(_ state: DeviceState) {
        if state == .background { endFields() }
        attention.stateSet(state, at: clock.now)
        attentionChanged()
    }

    func inputHappened() {
        attention.inputHappened(at: clock.now)
        attentionChanged()
    }

    func edited() {
        attention.edited(at: clock.now)
        attentionChanged()
    }

    private func attentionDeadlinePassed() {
        attention.deadlinePassed(at: clock.now)
        attentionChanged()
    }

    private func attentionChanged() {
        attentionAlarm.set(attention.deadline)
        guard connector.isOpen, attention.state != toldState else { return }
        toldState = attention.state
        agenda.stateChanged(to: attention.state)
        changed()
    }
}

extension Engine: ConnectorOwner {
    var deviceState: DeviceState { attention.state }

    func connectionOpened() {
        toldState = attention.state
        budget = MessageBudget(at: clock.now)
        if let welcome { budget.limitsLearnt(welcome.limits, at: clock.now) }
        budget.spend(1)
        for fetch in fetches.values { agenda.fetchWanted(fetch.id, of: fetch.call.missing) }
        for field in fields.values { field.connected() }
        flush()
    }

    func welcomed(_ welcome: ServerMessage.Welcome) {
        self.welcome = welcome
        shared.withLockedValue { $0.clock.timeHeard(welcome.time, at: clock.now) }
        agenda.limitsLearnt(welcome.limits)
        budget.limitsLearnt(welcome.limits, at: clock.now)
        for field in fields.values { field.expiryLearnt(typingExpiry) }
        changed()
    }

    var serverTime: Timestamp? { shared.withLockedValue { $0.clock.time(at: clock.now) } }

    func tokenRefreshed(_ token: String) {
        agenda.tokenRefreshed(token)
        changed()
    }

    func connectionLost() {
        agenda.connectionLost()
        budgetAlarm.set(nil)
        endStops()
        dropUnwanted()
    }

    func connectionStateChanged(to state: ConnectionState) {
        shared.withLockedValue { $0.state = state }
        connection.update(state)
    }

    func messageReceived(_ message: ServerMessage) {
        switch message {
        case .presence(let presences, let id): presencesHeard(presences, answering: id)
        case .typing(let typing): rooms[typing.conversation]?.heard(typing, expiry: typingExpiry)
        case .members(let members): membersHeard(members)
        case .removed(let conversation): removed(from: conversation)
        case .pong(let time): shared.withLockedValue { $0.clock.timeHeard(time, at: clock.now) }
        case .ack(let id): acknowledged(id)
        case .error(let error): refused(error)
        case .welcome, .goodbye: break  // The connector's.
        }
    }
}
