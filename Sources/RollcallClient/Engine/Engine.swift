// The centre of the client, on one queue: joins the connection with what is observed, typed and sent. Every public call is
// passed to this queue and returns at once.

/// A wait on the client's own clock. Created on any thread, used on the client's queue only.
final class Pause: @unchecked Sendable {
    fileprivate var deadline: ContinuousClock.Instant?
    /// Called with false if the client is closed.
    fileprivate var done: ((Bool) -> Void)?
}

/// The state of one client. Created on any thread, used on its queue only, except for ``run(_:)`` and ``shared``.
final class Engine: @unchecked Sendable {
    /// What any thread may read.
    struct Shared {
        var state = ConnectionState.idle
        var clock = ServerClock()
        /// When something last arrived, while the connection is down.
        var staleSince: ContinuousClock.Instant?
        /// The latest of what is observed, for models that are made meanwhile.
        var presences: [UserID: Presence] = [:]
        var typing: [ConversationID: Typing] = [:]
        var members: [ConversationID: Members] = [:]
        var here: [ConversationID: Here] = [:]
        var person = Person()
    }

    let environment: Environment
    let options: ClientOptions
    let shared = Locked(Shared())
    /// To tasks of the app, which have not continued with them yet.
    let answersOnTheirWay = Locked(0)
    private(set) var connection: Connection!
    private(set) lazy var people = People(in: self)
    private(set) lazy var names = Names(options.names, in: environment) { [unowned self] in
        Set(rooms.all.flatMap(\.users))
    } arrived: { [unowned self] in
        rooms.nameCame(of: $0)
    }
    private(set) lazy var rooms = Rooms(in: self)
    var outbox: Outbox
    private(set) var random: Jitter
    var attention: Attention
    let connectionState = Observed<ConnectionState>(.idle)
    let problems = Observed<Problem>()
    var stops: [Stop] = []
    private(set) var pauses: [Pause] = []
    /// How to end each observation, by its mailbox.
    var observations: [ObjectIdentifier: (release: () -> Void, finish: () -> Void)] = [:]
    /// Whether the connection has been down for ``ClientOptions/staleAfter``, and when it will have been.
    let staleness = Observed<Bool>(false)
    private var staleAt: ContinuousClock.Instant?
    /// A timer that is this late was held up: the machine slept, or the process was suspended.
    private static let asleep = Duration.seconds(5)
    /// After how long in the background the connection ends by itself, and when it will; `nil` for never.
    private var restAfter: Duration?
    private var restAt: ContinuousClock.Instant?
    /// Whether it has, until the app is in use again.
    private var isResting = false
    /// Called once the client rests, or no longer will.
    private var restEnded: (() -> Void)?
    /// As the last welcome said.
    private(set) var ownUser: UserID?
    /// Whom the session may ask about by name; `nil` before the first welcome.
    private(set) var right: WatchRight?
    private(set) lazy var person = OwnPerson(in: self)
    private(set) var typingExpiry = Duration.seconds(3)
    /// The one timer, and how to cancel it.
    private var timer: (deadline: ContinuousClock.Instant, cancel: () -> Void)?
    private var isSettling = false
    private var atEnd: [() -> Void] = []
    private var wasBeyondLimits = false
    private(set) var isClosed = false
    /// The callbacks that wait until the goodbye is sent; `nil` once it is.
    private var awaitingEnd: [() -> Void]? = []

    /// Equal problems are reported each time.
    struct Problem: Equatable {
        let error: RollcallError
        static func == (left: Self, right: Self) -> Bool { false }
    }

    init(_ options: ClientOptions, in environment: Environment, connection: (Engine) -> Connection) {
        (self.options, self.environment, random) = (options, environment, environment.jitter)
        outbox = Outbox(at: environment.now())
        attention = Attention(idleAfter: options.idleAfter)
        self.connection = connection(self)
    }

    /// Runs `body` on the client's queue. May be called on any thread; calls from one thread run in order.
    func run(_ body: @escaping @Sendable (Engine) -> Void) {
        environment.run { body(self) }
    }

    var now: ContinuousClock.Instant { environment.now() }
    var deviceState: DeviceState { attention.state }
    var serverTime: Timestamp? { shared.withLock { $0.clock.time(at: now) } }
    /// Whether messages wait because of the worker's rate limit.
    var isBehind: Bool { connection.isOpen && outbox.isCut }

    /// Closes everything: sends the goodbye, finishes every stream, and answers waiting calls with what is known.
    func close(_ done: @escaping () -> Void) {
        guard awaitingEnd?.append(done) != nil else { return done() }
        guard !isClosed else { return }
        isClosed = true
        endTyping()
        flush()
        connection.close { [self] in
            let waiting = awaitingEnd ?? []
            awaitingEnd = nil
            for done in waiting { done() }
        }
        // What is on the screen ends empty.
        people.close()
        names.close()
        rooms.close()
        for body in atEnd { body() }
        atEnd = []
        endStops()
        for pause in pauses { end(pause) }
        let finishing = observations.values
        observations = [:]
        setTimer(nil)
        for observation in finishing { observation.finish() }
    }
}

// Time.
extension Engine {
    /// Call this after whatever may change what is due. What is undone within one tick is never sent.
    func changed() {
        guard !isSettling, !isClosed else { return }
        isSettling = true
        environment.run { [weak self] in
            self?.isSettling = false
            self?.settle()
        }
    }

    /// Calls `body` at the end of this tick, before messages are sent.
    func atEndOfTick(_ body: @escaping () -> Void) {
        atEnd.append(body)
        changed()
    }

    private func settle() {
        guard !isClosed else { return }
        let bodies = atEnd
        atEnd = []
        rooms.settle()
        for body in bodies { body() }
        people.checkRule()
        flush()
        askTime()
        setTimer(deadline)
    }

    /// When something is due next.
    private var deadline: ContinuousClock.Instant? {
        var deadline = earliest(earliest(connection.deadline, people.deadline), attention.deadline)
        for room in rooms.all { deadline = earliest(deadline, room.deadline) }
        for stop in stops { deadline = earliest(deadline, stop.deadline) }
        for pause in pauses { deadline = earliest(deadline, pause.deadline) }
        deadline = earliest(earliest(deadline, staleAt), earliest(restAt, person.deadline))
        if connection.isOpen { deadline = earliest(deadline, outbox.deadline) }
        if isTimeRead { deadline = earliest(deadline, shared.withLock { $0.clock.deadline }) }
        return deadline
    }

    /// Moving the deadline later, the usual case, costs nothing: the timer fires at the earlier one and is then set again.
    private func setTimer(_ deadline: ContinuousClock.Instant?) {
        if let deadline, let timer, timer.deadline <= deadline { return }
        timer?.cancel()
        timer = deadline.map { deadline in
            let deadline = max(deadline, now)
            return (deadline, environment.at(deadline) { [weak self] in self?.timerFired() })
        }
    }

    private func timerFired() {
        let late = timer.map { now - $0.deadline } ?? .zero
        timer = nil
        if late >= Self.asleep { woke(after: late) }
        guard let deadline, deadline <= now else { return setTimer(deadline) }
        deadlinePassed(at: now)
    }

    /// This process did not run for a while: what is shown may be as old, and the connection dead. So the worker is asked once,
    /// and until it answers, what is shown counts as stale. An answer on the same connection confirms all of it.
    private func woke(after late: Duration) {
        connection.networkChanged()
        if connection.isDoubted, options.staleAfter.map({ late >= $0 }) ?? false { staleness.update(true) }
    }

    func connectionConfirmed() {
        staleness.update(false)
    }

    /// What was shown was another user's: everything is empty.
    func emptied() {
        people.emptied()
        for room in rooms.all { room.emptied() }
        ownUser = nil
        person.emptied()
        becameStale()
    }

    /// The connection has been down for ``ClientOptions/staleAfter``: only what a new one confirms, user by user, is shown from
    /// now on.
    private func becameStale() {
        staleAt = nil
        people.forget()
        for room in rooms.all { room.presenceForgotten() }
        staleness.update(true)
    }

    private func deadlinePassed(at now: ContinuousClock.Instant) {
        connection.deadlinePassed(at: now)
        attention.deadlinePassed(at: now)
        people.deadlinePassed(at: now)
        if connection.isOpen { outbox.deadlinePassed(at: now) }
        for stop in stops where now >= stop.deadline { end(stop, published: false) }
        for pause in pauses where pause.deadline.map({ now >= $0 }) ?? false { end(pause) }
        if let staleAt, now >= staleAt { becameStale() }
        if let restAt, now >= restAt { rest() }
        person.deadlinePassed(at: now)
        for room in rooms.all { room.deadlinePassed(at: now) }
        for field in fields { signalled(field, field.deadlinePassed(at: now)) }
        changed()
    }

    private func flush() {
        guard connection.isOpen else { return }
        outbox.state = deviceState
        let requests = outbox.take(at: now)
        connection.send(requests)
        for request in requests {
            switch request.message {
            case .unwatch(let users): for user in users { people.tidy(user) }
            case .join(let conversation, _, _), .leave(let conversation): rooms.tidy(conversation)
            case .hello, .token, .state, .watch, .get, .enter, .exit, .typing, .person, .ping, .goodbye: break
            }
        }
        for problem in outbox.problems { report(problem) }
        outbox.problems = []
        if outbox.isBeyondLimits, !wasBeyondLimits {
            report(RollcallError(.limit, "more is observed, or entered, than the worker serves a session"))
        }
        wasBeyondLimits = outbox.isBeyondLimits
    }

    func report(_ error: RollcallError) {
        problems.update(Problem(error: error))
        problems.forget()
    }

    /// Whether somebody may read when users were last seen.
    private var isTimeRead: Bool { connection.isOpen && deviceState != .background && people.hasLastSeen }

    private func askTime() {
        let isDue = shared.withLock { shared in
            guard isTimeRead, let deadline = shared.clock.deadline, now >= deadline else { return false }
            shared.clock.asked(at: now)
            return true
        }
        if isDue { connection.askTime() }
    }

    /// - Parameter age: how long ago the worker may have stated it.
    func timeHeard(_ time: Timestamp, age: Duration = .zero) {
        let hasMoved = shared.withLock { $0.clock.heard(time, age: age, at: now) }
        // Texts with times are out of date.
        if hasMoved { for pause in pauses { end(pause) } }
        changed()
    }

    func begin(_ pause: Pause, for duration: Duration, _ done: @escaping (Bool) -> Void) {
        guard !isClosed else { return done(false) }
        pause.deadline = now + duration
        pause.done = done
        pauses.append(pause)
        setTimer(deadline)
    }

    func end(_ pause: Pause) {
        pauses.removeAll { $0 === pause }
        pause.done?(!isClosed)
        pause.done = nil
    }
}

// The device's own state.
extension Engine {
    func phaseChanged(to phase: AppPhase) {
        let returned = phase == .active && deviceState == .background
        if phase == .background { endTyping() }
        attention.phaseChanged(to: phase, at: now)
        planRest()
        changed()
        // When the user returns to the app, state from a dead connection must not be shown for long.
        guard returned else { return }
        networkChanged()
        connection.returned()
    }

    func networkChanged() {
        // The machine may have slept, during which timers stand still.
        let late = timer.map { now - $0.deadline } ?? .zero
        setTimer(nil)
        if late >= Self.asleep { woke(after: late) } else { connection.networkChanged() }
        changed()
    }

    func stateSet(_ state: DeviceState) {
        if state == .background { endTyping() }
        attention.stateSet(state, at: now)
        planRest()
        changed()
    }

    func namesChanged() {
        names.changed()
        changed()
    }

    func inputHappened(ago: Duration = .zero) {
        attention.inputHappened(at: now - ago)
        changed()
    }
}

// Rest: an app that nobody looks at for a while has no connection. What it observes stays.
extension Engine {
    func connect() {
        isResting = false
        connection.connect()
        restAt = nil
        planRest()
        changed()
    }

    /// - Parameter forgets: whether the next connection may be another user's.
    func disconnect(forgets: Bool = true, _ done: @escaping () -> Void) {
        guard !isClosed else { return done() }
        (isResting, restAt) = (false, nil)
        endTyping()
        flush()
        connection.disconnect(forgets: forgets, done)
        changed()
    }

    /// - Parameter after: how long in the background.
    func rests(after: Duration?) {
        restAfter = after
        planRest()
        changed()
    }

    /// - Parameter ended: called once the client rests, or no longer will.
    func restIsAwaited(_ ended: @escaping () -> Void) {
        restEnded?()
        restEnded = ended
        if restAt == nil { endRest() }
    }

    func rest() {
        guard deviceState == .background, connection.isActive else { return endRest() }
        disconnect(forgets: false) { [self] in endRest() }
        isResting = true
    }

    private func endRest() {
        restAt = nil
        restEnded.take()?()
    }

    private func planRest() {
        guard deviceState == .background else {
            endRest()
            if isResting { connect() }
            return
        }
        if restAt == nil, connection.isActive { restAt = restAfter.map { now + $0 } }
    }
}

// What the connection tells.
extension Engine {
    func connectionOpened() {
        outbox.connectionOpened(deviceState, at: now)
        people.connectionOpened()
        for field in fields { signalled(field, field.connected(at: now)) }
        flush()
        changed()
    }

    func welcomed(_ welcome: ServerMessage.Welcome) {
        typingExpiry = .milliseconds(min(max(welcome.typing.expiry, 0), 3_600_000))
        ownUser = welcome.user
        let former = right
        // One that a later version says in another way names nobody here.
        right = welcome.watch ?? WatchRight.none
        if right != former { rooms.ruleChanged() }
        if former == nil { people.ruleLearnt() }
        people.ruleChanged()
        for field in fields { field.expiryLearnt(typingExpiry) }
        outbox.limitsLearnt(
            welcome.limits, entriesEvery: .milliseconds(min(max(welcome.coalesce, 0), 60_000)), at: now)
        timeHeard(welcome.time)
    }

    func tokenRefreshed(_ token: String) {
        outbox.token = token
        changed()
    }

    func connectionLost() {
        outbox.connectionLost()
        let wasConnected = shared.withLock {
            if $0.state.isConnected { $0.staleSince = connection.lastHeard }
            return $0.state.isConnected
        }
        // What the connection showed may have been stale already.
        if wasConnected, staleness.latest == true { becameStale() }
        endStops()
        rooms.tidyAll()
        people.tidyAll()
        changed()
    }

    func connectionChanged(to state: ConnectionState) {
        shared.withLock {
            $0.state = state
            if state.isConnected { $0.staleSince = nil }
        }
        if state.isConnected {
            staleAt = nil
            staleness.update(false)
        } else if !isClosed, staleAt == nil, staleness.latest == false {
            // Also for a client that has never connected.
            staleAt = options.staleAfter.map { now + $0 }
        }
        connectionState.update(state)
    }

    func messageReceived(_ message: ServerMessage) {
        switch message {
        case .presence(let presences, let id):
            people.heard(presences)
            if outbox.received(presences.lazy.map(\.user), answering: id) { people.read(presences) }
        case .typing(let typing):
            rooms[typing.conversation]?.heard(typing, expiry: typingExpiry, at: now)
        case .members(let members):
            outbox.membersShown(members.users.count, in: members.conversation)
            if outbox.conversations.way(of: members.conversation)?.contains(.members) == true {
                rooms[members.conversation]?.heard(members, at: now)
            }
        case .here(let here):
            if outbox.conversations.way(of: here.conversation)?.contains(.here) == true {
                rooms[here.conversation]?.heard(here)
            }
        case .removed(let conversation):
            outbox.removed(from: conversation, at: now, using: &random)
            refused(conversation, RollcallError(.notAMember, "the user is no longer a member"))
        case .ack(let id):
            switch outbox.acknowledged(id) {
            case .stop(let stop): end(stop, published: true)
            case .token(let token): connection.freshTokenAnswered(token, accepted: true)
            case .person: person.changed()
            case .watch, .join, .enter, .get, .state, nil: break
            }
        case .error(let error):
            refused(error)
        case .person(let person): self.person.heard(person)
        case .welcome, .goodbye, .pong:
            break  // Handled by the connection.
        }
        changed()
    }

    private func refused(_ error: MessageError) {
        guard let (subject, isFinal) = outbox.refused(error, at: now, using: &random) else {
            // Usually a typing signal. The field keeps signalling, so a temporary refusal is not reported. Nor is
            // `not_joined`, which follows a join whose refusal was reported.
            return error.retry || error.code == .notJoined ? () : report(RollcallError(error))
        }
        if case .person = subject { person.changed() }
        switch subject {
        case .join(let conversation): refused(conversation, isFinal ? RollcallError(error) : nil)
        case .get(let users): if isFinal { people.readRefused(users) }
        case .stop(let stop): end(stop, published: false)
        case .token(let token): if isFinal { connection.freshTokenAnswered(token, accepted: false) }
        case .watch, .enter, .state, .person: if isFinal { report(RollcallError(error)) }
        }
    }

    private func refused(_ conversation: ConversationID, _ error: RollcallError?) {
        if let error { rooms[conversation]?.refused(error) }
        rooms.tidy(conversation)
    }
}
