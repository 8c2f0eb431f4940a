// A device's connection, as the worker's edge has it. What is sent here is what an observer sees, and what is received
// here is what a device has decided: both are where promises begin, so that they are watched here.

internal import RollcallCore
internal import RollcallModel

/// The worker's end of a device's connection.
final class EdgeSession: ConnectionEnd {
    unowned let worker: SimulatedWorker
    /// What the device calls itself: known to the edge from the hello on.
    let deviceName: DeviceName
    /// The way to the device.
    let place: Weather.Place
    /// Where an outage can keep news from the device.
    let places: [Weather.Place]
    var key: SessionKey?
    private(set) var view = View()
    /// Whether it was welcomed and its connection is open.
    private(set) var isOpen = false
    /// What `welcome` called the session.
    private(set) var session: SessionID?

    private unowned let world: World
    private unowned let shard: SimulatedShard
    private let connection: Connection
    private let receive: (ServerMessage) -> Void
    private var unansweredPings = 0
    private var lastByte: Instant
    private var isOver = false
    /// How many messages were sent while the path to the device was held.
    private var waitingMessages = 0
    /// The time in which the device is behind.
    private var spell: Int?
    var isBehind: Bool { spell != nil }
    private let path: Path

    /// - Parameter receive: the device's, for what arrives there.
    init(
        _ world: World, at worker: SimulatedWorker, _ shard: SimulatedShard, over connection: Connection,
        from device: SimulatedDevice, receive: @escaping (ServerMessage) -> Void
    ) {
        self.world = world
        self.worker = worker
        self.shard = shard
        self.connection = connection
        self.receive = receive
        path = device.route.down
        place = .edge(device.index)
        places = worker.places + [place]
        deviceName = DeviceName(user: device.user, device: device.device)
        lastByte = world.agenda.now
    }

    var user: UserID { deviceName.user }
    var device: DeviceID { deviceName.device }
    var name: String { "\(user)/\(device)@\(worker.name)" }

    func connectionBegan(_ connection: Connection) {
        shard.process.arrives { [self] in
            guard connection.isOpenAtServer else { return }
            shard.connected(self)
            schedulePing()
        }
    }

    // MARK: From the device

    func received(_ request: ClientRequest) {
        shard.process.arrives { [self] in
            guard !isOver, connection.isOpenAtServer else { return }
            heard()
            world.trace.note(name, "says \(request.message.text)")
            world.truth.received(request.message, on: self)
            view.received(request.message, at: world.agenda.now)
            shard.received(request, on: self)
            if case .hello = request.message { world.checks.greeted(self) }
        }
    }

    func connectionEnded(_ connection: Connection) {
        shard.process.arrives { [self] in lost(silence: .zero) }
    }

    // MARK: To the device

    func send(_ message: ServerMessage) {
        guard !isOver else { return }
        if case .welcome(let welcome) = message {
            isOpen = true
            session = SessionID(random: welcome.session)
        }
        world.trace.note(name, "is told \(message.text)")
        let before = view
        view.told(message, at: world.agenda.now)
        world.checks.told(message, to: self, before: before)
        let receive = receive
        connection.sendToClient { receive(message) }
        fallBehindIfHeld()
    }

    func close(_ code: CloseCode) {
        guard !isOver else { return }
        world.trace.note(name, "is closed: \(code)")
        world.checks.closed(self, code)
        world.truth.closed(self, code)
        end()
        connection.close(at: .server)
    }

    // MARK: Slowness

    /// Once so many messages wait in a held path, the connection takes no more.
    private static let patience = 3

    private func fallBehindIfHeld() {
        guard path.isHeld else { return waitingMessages = 0 }
        waitingMessages += 1
        guard waitingMessages == Self.patience, spell == nil else { return }
        spell = world.outageBegins(at: place)
        shard.process.soon { [self] in
            if spell != nil { shard.fellBehind(self) }
        }
        path.whenReleased { [self] in shard.process.arrives { [self] in drained() } }
    }

    private func drained() {
        waitingMessages = 0
        shard.drained(self)
        // What it missed is shown when this turn of the loop ends.
        shard.process.soon { [self] in catchUp() }
    }

    private func catchUp() {
        if let spell { world.outageEnds(spell) }
        spell = nil
    }

    /// At once, unless what was sent cannot leave.
    func tellWhenDrained() {
        if spell == nil { shard.process.soon { [self] in shard.drained(self) } }
    }

    // MARK: Silence

    private func heard() {
        unansweredPings = 0
        lastByte = shard.process.now
    }

    private func schedulePing() {
        shard.process.after(world.settings.shard.ping) { [self] in
            guard !isOver else { return }
            guard unansweredPings < 2 else {
                connection.close(at: .server)
                return lost(silence: shard.process.now - lastByte)
            }
            unansweredPings += 1
            connection.sendToClient { [self] in
                connection.sendToServer { [self] in shard.process.arrives { [self] in heard() } }
            }
            schedulePing()
        }
    }

    private func lost(silence: Duration) {
        guard !isOver else { return }
        world.trace.note(name, "is lost, after \(silence.text) of silence")
        end()
        world.truth.lost(self)
        shard.disconnected(self, silence: silence)
    }

    /// The worker's process is gone: the kernel closes the connection.
    func processEnded() {
        end()
        connection.close(at: .server)
    }

    private func end() {
        catchUp()
        isOver = true
        isOpen = false
    }
}
