// A device that runs the real Swift client. The client itself decides everything that the model of a good client
// decides on other devices; the application only does what its user does.

internal import RollcallClient
internal import RollcallCore
internal import RollcallProtocol

/// A device with a real client.
final class ClientDevice: Device, @unchecked Sendable {
    let index: Int
    let user: UserID
    let device: DeviceID
    let chance: Chance
    let route: Route
    /// The application, while it runs.
    private(set) var app: App?
    /// The client's newest attempt to connect, or its connection.
    private(set) var wire: ClientWire?
    private(set) var state = DeviceState.active
    private(set) var stateSince: Instant
    /// What the user wants to see.
    private(set) var wantedUsers: Set<UserID>
    private(set) var wantedConversations: Set<ConversationID>
    /// The connection over which the client last received updates, and the worker's end of it.
    private(set) var lastWire: ClientWire?
    private(set) var lastEdge: EdgeSession?
    /// When something last prevented a connection.
    private(set) var hindered: Instant
    /// Since when it is connected, and when a connection last was that had lasted five seconds: its outages count from then.
    private var connectedSince: Instant?
    private(set) var steady: Instant
    /// When a request of the client last had to wait, for a retry or for a budget.
    var waited: Instant?
    /// The number of messages that its clients have sent, without the pings that ask for the time once a minute.
    var sent = 0

    private unowned let world: World
    private let jitter: Chance
    /// The lifetime of its tokens. While Redis's clock is stepped, no client can know when a token expires.
    private let tokenLife: Duration
    private var isOffline = false
    /// Counts connects and disconnects: events scheduled for an earlier attempt are ignored.
    private var attempt = 0
    private var dials = 0
    /// The current outage, while the client has no contact with any worker.
    private var spell: Int?
    /// The machines of the workers that it was connected to.
    private var machines: [(from: Instant, place: Weather.Place)] = []

    init(_ world: World, _ index: Int, _ name: DeviceName) {
        self.world = world
        self.index = index
        user = name.user
        device = name.device
        chance = world.deviceChance.fork()
        jitter = chance.fork()
        let lives =
            world.settings.stepsClock ? .seconds(120)...Duration.seconds(240) : .seconds(8)...Duration.seconds(25)
        tokenLife = chance.duration(in: lives)
        route = Route(agenda: world.agenda, chance: chance)
        stateSince = world.agenda.now
        (hindered, steady) = (world.agenda.now, world.agenda.now)
        wantedUsers = Set(world.users)
        wantedConversations = Set(world.conversations)
        for path in route.paths { path.onChange = { [unowned self] in touchChanged() } }
    }

    var name: String { "\(user)/\(device)" }
    var isInUse: Bool { app != nil }

    var session: EdgeSession? {
        guard let wire, wire.isWhole else { return nil }
        return wire.edge
    }

    var isAtRest: Bool { app.map { isInTouch && !$0.isBehind(orWasFor: .zero) } ?? true }

    var watched: Set<UserID> {
        wantedUsers.count <= world.settings.shard.limits.watchedUsers ? wantedUsers : []
    }

    var joined: Set<ConversationID> {
        guard wantedConversations.count <= world.settings.shard.limits.joinedConversations else { return [] }
        return wantedConversations.filter { app?.screen.conversations[$0]?.shown?.refusal == nil }
    }

    /// How many conversations show that the user is not a member. The client joins them again from time to time.
    var refusals: Int {
        wantedConversations.count { app?.screen.conversations[$0]?.shown?.refusal?.code == .notAMember }
    }

    // MARK: Connecting

    /// Starts the application, or connects its device to the network again.
    func come(after pause: Duration) {
        attempt += 1
        let attempt = attempt
        world.agenda.after(pause) { [self] in
            guard attempt == self.attempt else { return }
            let wasOffline = isOffline
            isOffline = false
            hinder()
            if let app, wasOffline, chance.happens(0.5) { app.networkChanged() }
            if app == nil { start() }
        }
    }

    private func start() {
        let process = AppProcess(world.agenda, jitter.fork())
        dials = 0
        let client = RollcallClient(
            urls: addresses, device: device, options: ClientOptions(),
            token: TokenSource { [unowned self] in asked(for: $0) }, in: process.environment
        ) { [unowned self, unowned process] in dial($0, in: process, $1) }
        let app = App(client, in: process, world.agenda)
        self.app = app
        app.onChange = { [unowned self] in world.checks.checkScreen(of: self) }
        app.onFailure = { [unowned self, unowned app] in failed(app) }
        app.state(state)
        for user in wantedUsers.sorted() { app.watch(user) }
        for conversation in wantedConversations.sorted() { app.join(conversation) }
        app.connect()
        world.trace.note(name, "starts its app")
        touchChanged()
    }

    /// A load balancer, or all workers by name.
    private var addresses: [String] {
        index % 2 == 0 ? ["wss://balancer"] : world.places.map { "wss://\($0.id)" }
    }

    private func dial(_ address: WorkerAddress, in process: AppProcess, _ owner: any WireOwner) -> any Wire {
        let wire = ClientWire(world, of: self, in: process, owner: owner, isFirst: dials == 0)
        dials += 1
        self.wire = wire
        touchChanged()
        world.trace.note(name, isOffline ? "dials without a network" : "dials \(address.host)")
        if isOffline {
            wire.fail(after: chance.duration(in: .zero...Duration.milliseconds(20)))
        } else {
            let place = world.places.first { $0.id == address.host } ?? chance.pick(world.places)
            wire.connect(to: place.worker)
        }
        return wire
    }

    private func asked(for answer: @escaping TokenSource.Answer) {
        world.agenda.after(chance.duration(in: .zero...Duration.milliseconds(30))) { [self] in
            guard world.isStill || chance.happens(0.95) else {
                hinder()
                return answer(.failure(NoToken()))
            }
            answer(.success(presentToken()))
        }
    }

    private struct NoToken: Error {}

    private func presentToken() -> String {
        guard world.settings.usesTokens else { return user.text }
        return world.issueJWT(to: user, for: tokenLife)
    }

    /// Handles a failure that needs a correction outside the client, after which the application retries.
    private func failed(_ app: App) {
        hinder()
        world.agenda.after(chance.duration(in: .milliseconds(100)...Duration.milliseconds(800))) { [self] in
            guard app === self.app else { return }
            hinder()
            app.connect()
        }
    }

    func received(_ message: ServerMessage, over connection: Connection) {
        guard let wire, wire.has(connection) else { return }
        wire.received(message)
    }

    // MARK: Actions of the user

    /// The client itself keeps to the message rate.
    func change(to state: DeviceState, isPaced: Bool) {
        self.state = state
        stateSince = world.agenda.now
        app?.state(state)
    }

    func watch(_ user: UserID) {
        if wantedUsers.insert(user).inserted { app?.watch(user) }
    }

    func unwatch(_ user: UserID) {
        if wantedUsers.remove(user) != nil { app?.unwatch(user) }
    }

    func join(_ conversation: ConversationID) {
        if wantedConversations.insert(conversation).inserted { app?.join(conversation) }
    }

    func leave(_ conversation: ConversationID) {
        if wantedConversations.remove(conversation) != nil { app?.leave(conversation) }
    }

    func lookUp(_ users: [UserID]) {}

    func types(in conversation: ConversationID) { app?.types(in: conversation) }

    func stopsTyping(in conversation: ConversationID) { app?.stopsTyping(in: conversation) }

    // MARK: Disconnecting

    /// Closes the application.
    func goodbye() {
        attempt += 1
        guard let app else { return }
        app.close()
        // The client sends its `goodbye` in its next turn.
        world.agenda.soon { [self] in
            if app === self.app { leave() }
        }
    }

    /// Kills the application, or disconnects the network until the device connects again.
    func lose(_ loss: Loss) {
        attempt += 1
        switch loss {
        case .closed:
            wire?.lose(loss)
            app?.kill()
            leave()
        case .reset, .silent:
            isOffline = true
            // The client notices a silently lost attempt only by its own time limit.
            if loss == .silent, wire?.isWelcomed == false { hinder(for: ClientOptions().connectTimeout) }
            wire?.lose(loss)
        }
        touchChanged()
    }

    func end() {
        app?.kill()
        leave()
        for path in route.paths { path.end() }
    }

    private func leave() {
        app = nil
        wire = nil
        lastWire = nil
        lastEdge = nil
        isOffline = false
        touchChanged()
    }

    // MARK: Contact

    /// Whether messages of a worker reach the display.
    var isInTouch: Bool { wire?.isWhole == true && !isHeld }

    private var isHeld: Bool { route.paths.contains(where: \.isHeld) }

    /// Handles that the connection began or ended, or that its path was blocked or unblocked.
    func touchChanged() {
        let isLost = app != nil && !isInTouch
        if isLost, spell == nil {
            spell = world.outageBegins(at: .client(index))
            hinder()
        }
        if !isLost, let spell {
            world.outageEnds(spell)
            self.spell = nil
        }
        guard isInTouch, let edge = wire?.edge, edge !== lastEdge else { return }
        lastWire = wire
        lastEdge = edge
        machines.append((world.agenda.now, .machine(edge.worker.place)))
    }

    /// Notes that a connection is prevented until `duration` from now.
    private func hinder(for duration: Duration = .zero) {
        hindered = max(hindered, world.agenda.now + duration)
    }

    /// Handles that a worker refuses or ends a connection.
    func turnedAway() {
        hinder()
        touchChanged()
    }

    /// Whether a connection attempt succeeds at any worker.
    var isReachable: Bool {
        app != nil && !isOffline && !isHeld
            && world.places.allSatisfy { $0.worker.map { $0.accepts && $0.process.isRunning } ?? false }
    }

    /// Notes a connection problem that still exists.
    func noteHindrance() {
        if !isReachable { hinder() }
        let now = world.agenda.now
        connectedSince = app?.screen.connection.isConnected == true ? connectedSince ?? now : nil
        if let connectedSince, now >= connectedSince + .seconds(5) { steady = now }
    }

    /// The places where an outage can delay updates to the display, which may still show state from an earlier worker.
    var places: [Weather.Place] {
        let fixed: [Weather.Place] = [.redis, .edge(index), .client(index)]
        var places = fixed + (machines.last.map { [$0.place] } ?? [])
        while true {
            let calm = world.calm(at: places)
            let first = machines.lastIndex { $0.from <= calm } ?? 0
            let wider = fixed + Set(machines.suffix(from: min(first, machines.count)).map(\.place))
            guard wider.count > places.count else { return places }
            places = wider
        }
    }
}
