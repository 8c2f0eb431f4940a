// A device as a good client keeps it: it connects to any worker, says hello, watches and joins, says what its person
// does, and comes back when it was cut off.

internal import RollcallCore
internal import RollcallModel

/// One device of one user, and what it wants at the moment.
final class SimulatedDevice: ConnectionEnd {
    enum Phase {
        /// It wants no connection.
        case away
        /// It tries, or waits to try again.
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

    private unowned let world: World
    let route: Route
    private var connection: Connection?
    private var edge: EdgeSession?
    private var sentTo: String?
    /// How often it took up or gave up a connection: what was put down for a former one does not happen.
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
    }

    var name: String { "\(user)/\(device)" }

    var session: EdgeSession? {
        if case .welcome(let edge, _) = phase { return edge }
        return nil
    }

    // MARK: Coming

    /// Connects to whichever worker, until one welcomes it.
    func come(after pause: Duration = .zero) {
        attempt += 1
        phase = .connecting
        let attempt = attempt
        world.agenda.after(pause) { [self] in if attempt == self.attempt { connect() } }
    }

    private func connect() {
        guard let worker = destination() else { return tryAgain() }
        let connection = Connection(over: route, client: self, agenda: world.agenda)
        self.connection = connection
        connection.open { [self] in
            edge = worker.accept(connection, from: self)
            return edge
        } opened: { [self] in
            if connection === self.connection { say(.hello(.init(token: user.text, device: device, state: state))) }
        }
        let attempt = attempt
        world.agenda.after(.seconds(2)) { [self] in
            if attempt == self.attempt, case .connecting = phase { giveUp() }
        }
    }

    /// Where a worker that left has sent it, or whichever there is.
    private func destination() -> SimulatedWorker? {
        defer { sentTo = nil }
        if let sentTo, let worker = world.workers.first(where: { $0.id == sentTo }) { return worker }
        return chance.pick(world.places).worker
    }

    /// No welcome comes: what was sent is not to be taken up by a worker that wakes later.
    private func giveUp() {
        connection?.reset(after: (client: .zero, server: .zero))
        tryAgain()
    }

    private func tryAgain() {
        connection = nil
        edge = nil
        come(after: chance.duration(in: .milliseconds(50)...Duration.milliseconds(400)))
    }

    // MARK: What the worker says

    func received(_ message: ServerMessage, over connection: Connection) {
        guard connection === self.connection else { return }
        switch message {
        case .welcome:
            guard let edge else { return }
            phase = .welcome(edge, connection)
            welcomed()
        case .removed(let conversation): joined.remove(conversation)
        case .goodbye(let goodbye): sentTo = goodbye.to
        case .presence, .typing, .members, .pong, .ack, .error: break
        }
    }

    private func welcomed() {
        say(.watch(watched.sorted()))
        for conversation in joined.sorted() { say(.join(conversation, presence: chance.happens(0.3))) }
    }

    func connectionEnded(_ connection: Connection) {
        guard connection === self.connection else { return }
        tryAgain()
    }

    // MARK: What the person does

    func say(_ message: ClientMessage) {
        guard let connection, let edge else { return }
        let id: MessageID? = if case .join(let conversation, _) = message { .text(conversation.text) } else { nil }
        connection.sendToServer { edge.received(ClientRequest(message, id: id)) }
    }

    func change(to state: DeviceState) {
        self.state = state
        if session != nil { say(.state(state)) }
    }

    func watch(_ user: UserID) {
        if watched.insert(user).inserted { say(.watch([user])) }
    }

    func unwatch(_ user: UserID) {
        if watched.remove(user) != nil { say(.unwatch([user])) }
    }

    func join(_ conversation: ConversationID) {
        joined.insert(conversation)
        say(.join(conversation, presence: chance.happens(0.3)))
    }

    func leave(_ conversation: ConversationID) {
        joined.remove(conversation)
        say(.leave(conversation))
    }

    // MARK: Going

    func goodbye() {
        say(.goodbye)
        part { _ in }
    }

    /// The connection is lost: by FIN, by RST, or without a word.
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

    enum Loss: CaseIterable { case closed, reset, silent }

    private func part(_ end: (Connection) -> Void) {
        attempt += 1
        phase = .away
        if let connection { end(connection) }
        connection = nil
        edge = nil
    }
}
