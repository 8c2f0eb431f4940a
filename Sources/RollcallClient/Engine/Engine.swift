// The centre of the client, on one event loop: connects the decisions (what to send, what to show to which observer)
// with the connection. Every public call is passed to this loop and returns at once.

import NIOConcurrencyHelpers
import NIOCore

/// The state of one client. Used on its loop only.
final class Engine {
    let loop: any EventLoop
    let clock: SteadyClock
    let options: ClientOptions
    /// State that any thread may read without a hop.
    let shared: NIOLockedValueBox<Shared>
    private let makeConnector: (Engine) -> Connector

    private(set) lazy var connector = makeConnector(self)
    private lazy var attentionAlarm = Alarm(on: loop, by: clock) { [unowned self] in attentionDeadlinePassed() }
    private lazy var budgetAlarm = Alarm(on: loop, by: clock) { [unowned self] in flush() }
    private lazy var retryAlarm = Alarm(on: loop, by: clock) { [unowned self] in retryDue() }
    private lazy var rejoinAlarm = Alarm(on: loop, by: clock) { [unowned self] in rejoinDue() }
    private lazy var timeAlarm = Alarm(on: loop, by: clock) { [unowned self] in timeDue() }
    private(set) lazy var names = NameBook(
        options.names, patience: options.connectTimeout, on: loop, by: clock, jitter: random
    ) { [unowned self] in
        Set(rooms.values.flatMap(\.users))
    } learnt: { [unowned self] in
        namesLearnt(of: $0)
    }

    var agenda = Agenda()
    private var budget: MessageBudget
    var random: Jitter
    private var isFlushDue = false
    /// Whether the worker refused something since the last flush.
    private var wasRefused = false
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
    /// The callbacks that wait until the goodbye is sent; `nil` once it is.
    private var awaitingEnd: [() -> Void]? = []

    /// - Parameter connector: creates the connector when it is first used, on the loop.
    init(
        options: ClientOptions, shared: NIOLockedValueBox<Shared>, on loop: any EventLoop, by clock: SteadyClock,
        jitter: Jitter, connector: @escaping (Engine) -> Connector
    ) {
        self.options = options
        self.shared = shared
        self.loop = loop
        self.clock = clock
        random = jitter
        budget = MessageBudget(at: clock.now)
        makeConnector = connector
        attention = Attention(idleAfter: options.idleAfter)
    }

    /// The connection state and the clock, which any thread may read.
    struct Shared {
        var state = ConnectionState.idle
        var clock = ServerClock()
    }

    /// How long typing lasts at the worker without renewal.
    var typingExpiry: Duration { .milliseconds(min(max(welcome?.typing.expiry ?? 3000, 0), 3_600_000)) }

    /// Schedules a flush for the end of this tick, so that what is undone within one tick is never sent.
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
        budget.spend(requests.reduce(0) { $0 + $1.message.cost })
        if !requests.isEmpty { connector.send(requests) }
        for request in requests { dropUnwanted(by: request.message) }
        if wasRefused { dropUnwanted() }
        wasRefused = false
        budgetAlarm.set(agenda.hasMore ? budget.nextRoom() : nil)
        warnOfLimits()
        followTime()
    }

    /// Notes a refusal, after which unneeded state is dropped. This is done once per tick, however many refusals it
    /// contains.
    func refusalHeard() {
        wasRefused = true
        changed()
    }

    /// Sets the timers for sending refused messages again.
    func followRetries() {
        retryAlarm.set(agenda.retryTime)
        rejoinAlarm.set(agenda.rejoinTime)
    }

    private func retryDue() {
        agenda.retryDue()
        changed()
    }

    private func rejoinDue() {
        agenda.rejoinDue(at: clock.now)
        followRetries()
        changed()
    }

    private func warnOfLimits() {
        defer { isBeyondLimits = agenda.isBeyondLimits }
        if agenda.isBeyondLimits && !isBeyondLimits {
            report(RollcallError(.limit, "more users or conversations are observed than the worker serves a session"))
        }
    }

    /// Whether messages wait because of the worker's rate limit.
    var isBehind: Bool { connector.isOpen && agenda.hasMore }

    func report(_ error: RollcallError) {
        for hear in problems.values { hear(error) }
    }

    /// Closes everything: sends the goodbye, finishes every stream, and answers waiting calls with what is known.
    func close(_ done: @escaping () -> Void) {
        guard awaitingEnd?.append(done) != nil else { return done() }
        guard !isClosed else { return }
        isClosed = true
        for field in fields.keys.sorted() { fieldEnded(field) }
        flush()
        connector.close { [self] in
            let waiting = awaitingEnd ?? []
            awaitingEnd = nil
            for done in waiting { done() }
        }
        names.close()
        for fetch in fetches.keys { endFetch(fetch) }
        endStops()
        endPauses()
        let finishing = observers.values
        observers = [:]
        (presences, rooms, fields, problems) = ([:], [:], [:], [:])
        attentionAlarm.set(nil)
        budgetAlarm.set(nil)
        retryAlarm.set(nil)
        rejoinAlarm.set(nil)
        timeAlarm.set(nil)
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
        // When the user returns to the app, state from a dead connection must not be shown for long.
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
        followTime()
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
        for (id, fetch) in fetches.sorted(by: { $0.key < $1.key }) { agenda.fetchWanted(id, of: fetch.call.missing) }
        for (_, field) in fields.sorted(by: { $0.key < $1.key }) { field.connected() }
        flush()
    }

    func welcomed(_ welcome: ServerMessage.Welcome) {
        self.welcome = welcome
        timeHeard(welcome.time)
        agenda.limitsLearnt(welcome.limits)
        budget.limitsLearnt(welcome.limits, at: clock.now)
        for (_, field) in fields.sorted(by: { $0.key < $1.key }) { field.expiryLearnt(typingExpiry) }
        changed()
    }

    func tokenRefreshed(_ token: String) {
        agenda.tokenRefreshed(token)
        changed()
    }

    func connectionLost() {
        agenda.connectionLost()
        budgetAlarm.set(nil)
        followRetries()
        endStops()
        dropUnwanted()
        followTime()
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
        case .ack(let id): acknowledged(id)
        case .error(let error): refused(error)
        case .welcome, .goodbye, .pong: break  // Handled by the connector.
        }
    }
}

// The worker's time, which may be set.
extension Engine {
    var serverTime: Timestamp? { shared.withLockedValue { $0.clock.time(at: clock.now) } }

    /// - Parameter age: how long ago the worker may have stated it.
    func timeHeard(_ time: Timestamp, age: Duration = .zero) {
        let hasMoved = shared.withLockedValue { $0.clock.timeHeard(time, age: age, at: clock.now) }
        if hasMoved { endPauses() }
        followTime()
    }

    /// Schedules requests for the time, while presence is observed and the app is not in the background.
    private func followTime() {
        let isRead = connector.isOpen && attention.state != .background && !presences.isEmpty
        timeAlarm.set(isRead ? shared.withLockedValue { $0.clock.deadline } : nil)
    }

    private func timeDue() {
        shared.withLockedValue { $0.clock.asked(at: clock.now) }
        connector.askTime()
        followTime()
    }

    /// Handles presence. Its latest change may be in the future by the known time, which then is probably wrong.
    func momentsHeard(in presences: [Presence]) {
        guard let latest = presences.compactMap(\.updatedAt).max() else { return }
        shared.withLockedValue { $0.clock.momentHeard(latest, at: clock.now) }
        followTime()
    }
}
