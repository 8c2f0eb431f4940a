// A model of a good client: it connects to any worker, says `hello`, watches and joins, sends its user's actions, and
// reconnects when its connection is lost.

internal import RollcallCore
internal import RollcallProtocol

/// One device of one user, and its desired state.
final class SimulatedDevice: Device, ConnectionEnd {
    enum Phase {
        /// Wants no connection.
        case away
        /// Tries to connect, or waits for the next attempt.
        case connecting
        case welcome(EdgeSession, Connection)
    }

    let index: Int
    let user: UserID
    let device: DeviceID
    let chance: Chance
    private(set) var phase = Phase.away
    private(set) var state = DeviceState.active
    private(set) var watched: Set<UserID>
    private(set) var joined: Set<ConversationID>
    /// What it has open, and what it shows there.
    private(set) var entered: [ConversationID: HereData?] = [:]

    private unowned let world: World
    let route: Route
    private var connection: Connection?
    private var edge: EdgeSession?
    private var sentTo: String?
    /// Requests without an answer so far, by message id.
    private var asked: [Int64: ClientMessage] = [:]
    private var messages: Int64 = 0
    private var pace: Pace
    /// When its last message over this connection is sent, not counting new tokens.
    private var saidBy: Instant
    private var token: String?
    /// Counts connects and disconnects: events scheduled for an earlier connection are ignored.
    private var attempt = 0

    init(_ world: World, _ index: Int, _ name: DeviceName) {
        self.world = world
        self.index = index
        user = name.user
        device = name.device
        chance = world.deviceChance.fork()
        route = Route(agenda: world.agenda, chance: chance)
        watched = Set(world.users)
        joined = Set(world.conversations)
        pace = Pace(world.settings.shard.limits, at: world.agenda.now)
        saidBy = world.agenda.now
    }

    var name: String { "\(user)/\(device)" }

    var isInUse: Bool { session != nil }

    var session: EdgeSession? {
        if case .welcome(let edge, _) = phase { return edge }
        return nil
    }

    var isAtRest: Bool {
        switch phase {
        case .away: true
        case .connecting: false
        case .welcome: saidBy <= world.agenda.now
        }
    }

    // MARK: Connecting

    /// Connects to any worker, until one sends a welcome.
    func come(after pause: Duration) {
        attempt += 1
        phase = .connecting
        let attempt = attempt
        world.agenda.after(pause) { [self] in if attempt == self.attempt { connect() } }
    }

    private func connect() {
        guard let worker = destination() else { return tryAgain() }
        let connection = Connection(over: route, client: self, agenda: world.agenda)
        self.connection = connection
        asked = [:]
        saidBy = world.agenda.now
        pace = Pace(world.settings.shard.limits, at: world.agenda.now)
        connection.open { [self] in
            edge = worker.accept(connection, from: self)
            return edge
        } opened: { [self] in
            if connection === self.connection {
                say(.hello(.init(token: ByteString(presentToken()), device: device, state: state)))
            }
        }
        let attempt = attempt
        world.agenda.after(.seconds(2)) { [self] in
            if attempt == self.attempt, case .connecting = phase { giveUp() }
        }
    }

    /// Returns the current token if it is valid for long enough, or a new one.
    private func presentToken() -> String {
        guard world.settings.usesTokens else { return user.text }
        if let token, let known = world.token(token), known.expires > world.agenda.now + lead { return token }
        return freshToken()
    }

    /// How long before it expires a token is renewed: it counts as several messages, and may have to wait.
    private var lead: Duration { .seconds(2) + .seconds(10) / world.settings.shard.limits.messageRate }

    private func freshToken() -> String {
        // Most clients renew it in time.
        let isRenewed = chance.happens(0.8) || world.isStill
        let lifetime = chance.duration(
            in: isRenewed ? lead + .seconds(4)...Duration.seconds(25) : .seconds(3)...Duration.seconds(8))
        let fresh = world.issue(to: user, for: lifetime)
        token = fresh
        guard isRenewed else { return fresh }
        world.agenda.after(lifetime - lead) { [self] in
            if fresh == token, session != nil { say(.token(ByteString(freshToken()))) }
        }
        return fresh
    }

    /// Returns the worker that a draining worker named, or any worker.
    private func destination() -> SimulatedWorker? {
        defer { sentTo = nil }
        if let sentTo, let worker = world.workers.first(where: { $0.id == sentTo }) { return worker }
        return chance.pick(world.places).worker
    }

    /// Handles a missing welcome: resets the connection, so that a suspended worker does not process the messages when
    /// it resumes.
    private func giveUp() {
        connection?.reset(after: (client: .zero, server: .zero))
        tryAgain()
    }

    private func tryAgain() {
        connection = nil
        edge = nil
        come(after: chance.duration(in: .milliseconds(50)...Duration.milliseconds(400)))
    }

    // MARK: Messages from the worker

    func received(_ message: ServerMessage, over connection: Connection) {
        guard connection === self.connection else { return }
        switch message {
        case .welcome:
            guard let edge else { return }
            phase = .welcome(edge, connection)
            welcomed()
        case .removed(let conversation): leaves(conversation)
        case .goodbye(let goodbye): sentTo = goodbye.to?.string
        case .ack(let id): _ = take(id)
        case .presence(_, let id?): _ = take(id)
        case .error(let error):
            if let message = error.id.flatMap(take) { refused(message, error) }
        case .presence(_, nil), .typing, .members, .here, .person, .pong: break
        }
    }

    private func take(_ id: MessageID) -> ClientMessage? {
        guard case .integer(let number) = id else { return nil }
        return asked.removeValue(forKey: number)
    }

    /// Repeats a request that may succeed later, while it is still wanted, and drops one that exceeds a limit.
    private func refused(_ message: ClientMessage, _ error: MessageError) {
        if error.retry { return again(message) }
        switch (error.code, message) {
        case (.limit, .watch(let users)):
            let most = world.settings.shard.limits.watchedUsers
            guard users.count > most else { return watched.subtract(users) }
            watched = Set(watched.sorted().prefix(most))
            say(.watch(watched.sorted()))
        case (.limit, .join(let conversation, _, _)), (.notAMember, .join(let conversation, _, _)):
            leaves(conversation)
        case (.limit, .enter(let conversation, _)), (.notAMember, .enter(let conversation, _)),
            (.notJoined, .enter(let conversation, _)):
            // It may have said so again meanwhile.
            if entered.removeValue(forKey: conversation) != nil { say(.exit(conversation)) }
        default: break
        }
    }

    private func again(_ message: ClientMessage) {
        guard let connection else { return }
        world.agenda.after(chance.duration(in: .milliseconds(300)...Duration.milliseconds(900))) { [self] in
            if connection === self.connection, let wanted = wanted(of: message) { say(wanted) }
        }
    }

    /// Returns the part of a message that is still wanted.
    private func wanted(of message: ClientMessage) -> ClientMessage? {
        let isWanted =
            switch message {
            case .watch(let users): !watched.isDisjoint(with: users)
            case .join(let conversation, _, _): joined.contains(conversation)
            case .state(let state): state == self.state
            case .enter(let conversation, let data): entered[conversation] == .some(data)
            case .get: !world.isStill
            case .token(let token): token.string == self.token
            case .typing, .hello, .unwatch, .leave, .exit, .person, .ping, .goodbye: false
            }
        if case .watch(let users) = message, isWanted { return .watch(users.filter(watched.contains)) }
        return isWanted ? message : nil
    }

    private func welcomed() {
        say(.watch(watched.sorted()))
        for conversation in joined.sorted() {
            say(.join(conversation, presence: chance.happens(0.3), here: world.settings.visits))
        }
        for (conversation, data) in entered.sorted(by: { $0.key < $1.key }) { say(.enter(conversation, data: data)) }
    }

    func connectionEnded(_ connection: Connection) {
        guard connection === self.connection else { return }
        // Whatever the cause, most applications request a new token.
        if chance.happens(0.7) { token = nil }
        tryAgain()
    }

    // MARK: Actions of the user

    /// - Parameter isPaced: whether the device keeps to the worker's message rate.
    func say(_ message: ClientMessage, isPaced: Bool = true) {
        guard let connection, let edge else { return }
        messages += 1
        asked[messages] = message
        let request = ClientRequest(message, id: .integer(messages))
        let moment = message == .goodbye || !isPaced ? world.agenda.now : pace.next(message, at: world.agenda.now)
        guard moment > world.agenda.now else { return transmit(request, to: edge, over: connection) }
        if !message.isToken { saidBy = moment }
        world.agenda.at(moment) { [self] in
            if connection === self.connection { transmit(request, to: edge, over: connection) }
        }
    }

    private func transmit(_ request: ClientRequest, to edge: EdgeSession, over connection: Connection) {
        let text = MessageCodec().json(of: request)
        connection.sendToServer { edge.received(text, for: request) }
    }

    func change(to state: DeviceState, isPaced: Bool) {
        self.state = state
        if session != nil { say(.state(state), isPaced: isPaced) }
    }

    func watch(_ user: UserID) {
        if watched.insert(user).inserted { say(.watch([user])) }
    }

    func unwatch(_ user: UserID) {
        if watched.remove(user) != nil { say(.unwatch([user])) }
    }

    func join(_ conversation: ConversationID) {
        joined.insert(conversation)
        say(.join(conversation, presence: chance.happens(0.3), here: world.settings.visits))
    }

    func leave(_ conversation: ConversationID) {
        leaves(conversation)
        say(.leave(conversation))
    }

    private func leaves(_ conversation: ConversationID) {
        joined.remove(conversation)
        entered[conversation] = nil
    }

    func enter(_ conversation: ConversationID, data: HereData?) {
        guard joined.contains(conversation) else { return }
        entered[conversation] = .some(data)
        say(.enter(conversation, data: data))
    }

    func exit(_ conversation: ConversationID) {
        entered[conversation] = nil
        say(.exit(conversation))
    }

    func lookUp(_ users: [UserID]) { say(.get(users)) }

    func types(in conversation: ConversationID) { say(.typing(conversation, true)) }

    func stopsTyping(in conversation: ConversationID) { say(.typing(conversation, false)) }

    // MARK: Disconnecting

    func goodbye() {
        say(.goodbye)
        part { _ in }
    }

    func lose(_ loss: Loss) {
        part { connection in
            switch loss {
            case .closed: connection.close(at: .client)
            case .reset:
                connection.reset(after: (.zero, chance.duration(in: .zero...Duration.milliseconds(20))))
            case .silent: connection.vanish(at: .client)
            }
        }
    }

    func end() { route.down.end() }

    private func part(_ end: (Connection) -> Void) {
        attempt += 1
        phase = .away
        if let connection { end(connection) }
        connection = nil
        edge = nil
    }
}
