// The WebSocket of the real client: its messages travel as JSON over the simulated network.

internal import RollcallClient
internal import RollcallCore
internal import RollcallProtocol

/// A client's attempt to connect to a worker, and the resulting connection.
final class ClientWire: Wire, ConnectionEnd {
    let mayDieSilently: Bool
    private(set) var edge: EdgeSession?
    private(set) var isWelcomed = false
    /// Whether the client has abandoned this connection.
    private(set) var isOver = false
    /// When the client last received anything from the worker.
    private(set) var lastHeard: Instant
    /// When the last update of each user and conversation arrived.
    private(set) var lastPresence: [UserID: Instant] = [:]
    private(set) var lastTyping: [ConversationID: Instant] = [:]
    /// When the worker last refused something with `retry: true`.
    private(set) var lastRefusal: Instant?

    private unowned let world: World
    private unowned let device: ClientDevice
    private weak var owner: (any WireOwner)?
    private let process: AppProcess
    private var connection: Connection?
    /// Whether this is the client's first connection.
    private let isFirst: Bool
    private var isOpen = false
    private var unsent: [ClientRequest] = []
    private var pace: Pace
    /// The messages sent before the worker had sent its limits.
    private var sentBlindly: Set<MessageID> = []

    init(_ world: World, of device: ClientDevice, in process: AppProcess, owner: any WireOwner, isFirst: Bool) {
        self.world = world
        self.device = device
        self.process = process
        self.owner = owner
        self.isFirst = isFirst
        mayDieSilently = world.settings.planted != .clientTrustsSilence
        lastHeard = world.agenda.now
        pace = Pace(upTo: world.settings.shard.limits, at: world.agenda.now)
    }

    /// Whether the connection is open at both ends.
    var isWhole: Bool {
        guard let connection, let edge else { return false }
        return isWelcomed && !isOver && connection.isOpenAtClient && !edge.isOver
    }

    func has(_ connection: Connection) -> Bool { connection === self.connection }

    /// - Parameter worker: `nil` if no worker listens there.
    func connect(to worker: SimulatedWorker?) {
        let connection = Connection(over: device.route, client: self, agenda: world.agenda)
        self.connection = connection
        connection.onClientHeard = { [weak self] in self?.heard() }
        connection.open { [self] in
            edge = worker?.accept(connection, from: device)
            edge?.onOver = { [weak device] in device?.turnedAway() }
            if edge == nil { device.turnedAway() }
            return edge
        } opened: { [self] in
            isOpen = true
            turn { $0.wireOpened(self) }
        }
    }

    /// Fails, because there is no network.
    func fail(after pause: Duration) {
        world.agenda.after(pause) { [self] in end(.notReached(nil)) }
    }

    // MARK: Actions of the client

    func send(_ request: ClientRequest) {
        unsent.append(request)
    }

    func flush() {
        let requests = unsent
        unsent = []
        for request in requests { transmit(request) }
    }

    func close(_ done: @escaping () -> Void) {
        abort()
        world.agenda.soon(done)
    }

    func abort() {
        isOver = true
        connection?.close(at: .client)
        device.touchChanged()
    }

    private func transmit(_ request: ClientRequest) {
        guard let request = mistaken(request) else { return }
        if request.message != .ping { device.sent += 1 }
        if !isWelcomed, let id = request.id { sentBlindly.insert(id) }
        let text = MessageCodec().json(of: request)
        world.checks.said(request, text.count, in: &pace, by: device)
        let edge = edge
        connection?.sendToServer { edge?.received(text, for: request) }
    }

    // MARK: Connection events

    /// Handles that the device loses its network, or its process is killed.
    func lose(_ loss: Loss) {
        guard let connection else { return }
        switch loss {
        case .closed:
            isOver = true
            connection.close(at: .client)
        case .reset:
            connection.reset(after: (.zero, device.chance.duration(in: .zero...Duration.milliseconds(20))))
        case .silent: connection.vanish(at: .client)
        }
        device.touchChanged()
    }

    func received(_ message: ServerMessage) {
        if case .welcome = message {
            isWelcomed = true
            device.touchChanged()
        }
        if case .presence(let presences, nil) = message {
            for presence in presences { lastPresence[presence.user] = world.agenda.now }
        }
        if case .typing(let typing) = message { lastTyping[typing.conversation] = world.agenda.now }
        if case .members(let members) = message { pace.refund(showing: members.users.count) }
        if case .error(let error) = message {
            if error.retry { lastRefusal = world.agenda.now }
            if error.code == .limit, let id = error.id, !sentBlindly.contains(id) {
                world.checks.fail("message limits", "\(device.name) asks for more than its worker allows")
            }
        }
        turn { $0.wireReceived(self, message) }
    }

    private func heard() {
        lastHeard = world.agenda.now
        turn { $0.wireHeard(self) }
    }

    func connectionEnded(_ connection: Connection) {
        guard isOpen else { return end(.notReached(nil)) }
        end(edge?.closeCode.map { .closed($0) } ?? .lost(nil))
    }

    private func end(_ ending: Ending) {
        world.trace.note(device.name, "is told of an end: \(ending)")
        turn { owner in
            isOver = true
            owner.wireEnded(self, how: ending)
        }
        device.touchChanged()
    }

    /// Delivers an event, unless the client has abandoned the connection or is gone.
    private func turn(_ event: (any WireOwner) -> Void) {
        guard !isOver, let owner else { return }
        process.turn { event(owner) }
    }
}

// Planted client bugs.
extension ClientWire {
    private func mistaken(_ request: ClientRequest) -> ClientRequest? {
        switch (world.settings.planted, request.message) {
        case (.clientKeepsItsState, .hello(var hello)) where !isFirst:
            hello.state = .active
            return ClientRequest(.hello(hello), id: request.id)
        case (.clientNeverRejoins, .join) where !isFirst:
            guard let id = request.id else { return nil }
            world.agenda.soon { [self] in turn { $0.wireReceived(self, .ack(id)) } }
            return nil
        default: return request
        }
    }
}
