// A device's connection, as the worker's edge has it. What is sent here is what an observer sees, and what is received
// here is what a device has decided: both are where promises begin, so that they are watched here.

internal import DequeModule
internal import RollcallCore
internal import RollcallProtocol

/// The worker's end of a device's connection.
final class EdgeSession: ConnectionEnd, Peer {
    unowned let worker: SimulatedWorker
    /// What the device calls itself: known to the edge from the hello on.
    let deviceName: DeviceName
    /// The way to the device.
    let place: Weather.Place
    /// Where an outage can keep news from the device.
    let places: [Weather.Place]
    var key: Session?
    private(set) var view = View()
    /// Whether it was welcomed and its connection is open.
    private(set) var isOpen = false
    /// The token that its device showed last and that was taken.
    var token: Token?
    private var firstProfile: Profile?
    private var firstRight: WatchRight??
    /// Whom it may ask about by name.
    private(set) var right = WatchRight.none
    /// Whether it showed one that had expired.
    var showedExpiredToken = false
    /// What its device has said and its shard has not taken, in order, and when it came.
    private var said = Deque<(request: ClientRequest, came: Instant)>()
    /// Whether its shard keeps what it says for later, and whether so much has come since that the rest stays in the socket.
    private var isHeld = false
    private var isPaused = false
    private var unread = Deque<(text: [UInt8], request: ClientRequest, came: Instant)>()
    /// Whether something that it said or asked for waits for its budgets.
    private var isWaiting = false
    private var hasWaited: Instant?
    /// When something last did.
    var lastWaited: Instant? { isWaiting ? world.agenda.now : hasWaited }
    /// When its connection was opened.
    let began: Instant
    /// What `welcome` called the session.
    private(set) var session: SessionID?

    private unowned let world: World
    private unowned let shard: SimulatedShard
    private let connection: Connection
    private let receive: (ServerMessage) -> Void
    private var unansweredPings = 0
    private var lastByte: Instant
    private(set) var isOver = false
    /// With what its worker closed it.
    private(set) var closeCode: CloseCode?
    /// Called when its worker has it no more.
    var onOver: () -> Void = {}
    /// How many messages were sent while the path to the device was held.
    private var waitingMessages = 0
    /// The time in which the device is behind.
    private var spell: Int?
    var isBehind: Bool { spell != nil }
    /// Whether the device is gone from the connection, or the way to it or back was held.
    var mayBeLate: Bool { !connection.isOpenAtClient || route.paths.contains { $0.hasHeld(since: began) } }
    private let route: Route

    /// - Parameter receive: the device's, for what arrives there.
    init(
        _ world: World, at worker: SimulatedWorker, _ shard: SimulatedShard, over connection: Connection,
        from device: any Device, receive: @escaping (ServerMessage) -> Void
    ) {
        self.world = world
        self.worker = worker
        self.shard = shard
        self.connection = connection
        self.receive = receive
        route = device.route
        place = .edge(device.index)
        places = worker.places + [place]
        deviceName = DeviceName(user: device.user, device: device.device)
        lastByte = world.agenda.now
        began = world.agenda.now
    }

    var user: UserID { deviceName.user }
    var device: DeviceID { deviceName.device }
    var name: String { "\(user)/\(device)@\(worker.name)" }
    /// `nil` before it was welcomed.
    var sessionName: SessionName? { session.map { SessionName(user: user, device: device, session: $0) } }

    func connectionBegan(_ connection: Connection) {
        shard.process.arrives { [self] in
            guard connection.isOpenAtServer else { return }
            shard.connected(self)
            schedulePing()
        }
    }

    // MARK: From the device

    /// A text frame has come.
    ///
    /// - Parameter request: what the device wrote there.
    func received(_ text: [UInt8], for request: ClientRequest) {
        shard.process.arrives { [self] in
            guard !isOver, connection.isOpenAtServer else { return }
            unread.append((text, request, world.agenda.now))
            readAll(unless: isPaused)
        }
    }

    private func readAll(unless isPaused: @autoclosure () -> Bool) {
        while !isOver, !isPaused(), let (text, request, _) = unread.popFirst() { read(text, for: request) }
    }

    private func read(_ text: [UInt8], for request: ClientRequest) {
        heard()
        guard let read = try? MessageCodec().request(from: text), read == request else {
            return world.checks.fail("text", "\(name) says \(request.message.text), which is read as something else")
        }
        world.trace.note(name, "says \(request.message.text)")
        let wasHeld = isHeld
        said.append((request, world.agenda.now))
        view.asked(request, at: world.agenda.now)
        shard.received(request, on: self)
        if wasHeld, isHeld { isPaused = true }
        if case .hello = request.message { world.checks.greeted(self) }
    }

    func hold() { isHeld = true }

    func listen() {
        if world.settings.planted == .neverListens { return }
        isHeld = false
        guard isPaused else { return }
        isPaused = false
        shard.process.soon { [self] in readAll(unless: isPaused) }
    }

    /// What its device has said counts from the moment at which the shard takes it.
    func took() {
        guard let (request, came) = said.popFirst() else { return }
        if isHeld { world.trace.note(name, "is taken at its word: \(request.message.text)") }
        if came < world.agenda.now { hasWaited = world.agenda.now }
        view.taken(request, at: world.agenda.now)
        view.judge(for: user, right, at: world.agenda.now)
        if !isRefused(request.message) { world.truth.received(request.message, came: came, on: self) }
    }

    func prove(_ token: ByteString, device: DeviceID?) throws(ProofRefusal) -> Proof {
        guard let device else { throw ProofRefusal(.badMessage(), endsWelcomed: true) }
        guard world.settings.usesTokens else {
            guard let user = try? UserID(token.string) else {
                throw ProofRefusal(.badToken(because: "no user"), endsWelcomed: true)
            }
            right = world.settings.shard.watch
            return Proof(user: user, device: device)
        }
        guard let shown = world.token(token.string), shown.expires > shard.process.now else {
            showedExpiredToken = true
            throw ProofRefusal(.tokenExpired(), endsWelcomed: true)
        }
        if self.token.map({ $0.issued <= shown.issued }) ?? true { self.token = shown }
        let planted = world.settings.planted
        let profile = planted == .keepsFirstName ? firstProfile ?? shown.profile : shown.profile
        firstProfile = profile
        let claim = world.settings.sharesOnly ? shown.right(world.settings.users) : nil
        if self.token == shown, right != claim ?? world.settings.shard.watch {
            right = claim ?? world.settings.shard.watch
            view.judge(for: user, right, at: world.agenda.now)
        }
        let told = firstRight.flatMap { planted == .keepsFirstRight ? $0 : nil } ?? claim
        firstRight = firstRight ?? claim
        return Proof(
            user: shown.user, device: device,
            lifetime: planted == .tokenNeverExpires ? nil : shown.expires - shard.process.now,
            issued: planted == .revocationSpares ? nil : world.redis.hostTime(at: shown.issued),
            grant: Grant(watch: told, profile: profile))
    }

    /// Whether it is a hello with a token that has expired, which is nobody's word.
    private func isRefused(_ message: ClientMessage) -> Bool {
        guard world.settings.usesTokens, case .hello(let hello) = message else { return false }
        return world.token(hello.token.string).map { $0.expires <= world.agenda.now } ?? false
    }

    /// The oldest message that waits to be taken.
    var oldestWaiting: (request: ClientRequest, came: Instant)? {
        said.first ?? unread.first.map { ($0.request, $0.came) }
    }

    /// Whether something waits to be taken, but for fresh tokens, of which nothing follows.
    var hasMoreToBeTaken: Bool {
        said.contains { !$0.request.message.isToken } || unread.contains { !$0.request.message.isToken }
    }

    func waits(forBudget waits: Bool) {
        if waits || isWaiting { hasWaited = world.agenda.now }
        isWaiting = waits
    }

    /// What had come before the end is read.
    func connectionEnded(_ connection: Connection) {
        shard.process.arrives { [self] in
            readAll(unless: false)
            lost(silence: .zero)
        }
    }

    // MARK: To the device

    func send(_ delivery: Delivery, counting: Bool) -> Bool {
        guard !isOver, let message = shard.read(delivery) else { return false }
        switch message {
        case .ack, .error: break
        default: shard.works(Work(frames: 1))
        }
        send(message)
        return true
    }

    func spare(_: Delivery) {}

    func limitHit(_ limit: Limit) {
        switch limit {
        case .watchedUsers: world.bounds.met(.watchedUsers)
        case .joinedConversations: world.bounds.met(.joinedConversations)
        case .enteredConversations: world.bounds.met(.enteredConversations)
        case .messageRate where world.settings.planted == .closesTalkative:
            shard.process.soon { [self] in
                if let key, !isOver { shard.after { $0.end(key, .flood, at: $1) } }
            }
        case .messageRate: world.bounds.met(.messageRate)
        default: break
        }
    }

    /// - Parameter message: as the device reads it.
    private func send(_ message: ServerMessage) {
        if case .welcome(let welcome) = message {
            isOpen = true
            session = SessionID(random: welcome.session)
        }
        world.trace.note(name, "is told \(message.text)")
        let before = view
        view.told(message, sharing: world.settings.shard.sharedMembers, at: world.agenda.now)
        view.judge(for: user, right, at: world.agenda.now)
        world.checks.told(message, to: self, before: before)
        let receive = receive
        connection.sendToClient { receive(message) }
        fallBehindIfHeld()
    }

    func close(_ end: SessionEnd) {
        shard.closed(self)
        let code = end.code
        guard !isOver else { return }
        world.trace.note(name, "is closed: \(code)")
        world.checks.closed(self, code)
        world.truth.closed(self, code, rest: said.map(\.request.message))
        closeCode = code
        self.end()
        connection.close(at: .server)
    }

    // MARK: Slowness

    private func fallBehindIfHeld() {
        guard route.down.isHeld else { return waitingMessages = 0 }
        waitingMessages += 1
        guard waitingMessages >= world.settings.patience, spell == nil else { return }
        world.bounds.met(.outbound)
        spell = world.outageBegins(at: place)
        shard.process.soon { [self] in
            if spell != nil { shard.fellBehind(self) }
        }
        route.down.whenReleased { [self] in shard.process.arrives { [self] in drained() } }
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
        world.bounds.met(.showBatch)
        if world.settings.planted == .forgetsTheRest { return }
        if spell == nil || !route.down.isHeld { shard.process.soon { [self] in shard.drained(self) } }
    }

    // MARK: Silence

    private func heard() {
        unansweredPings = 0
        lastByte = shard.process.now
    }

    private func schedulePing() {
        shard.process.after(world.settings.shard.ping) { [self] in
            guard !isOver else { return }
            // From whom nothing is read, nothing can be heard.
            guard !isPaused else { return schedulePing() }
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
        let wasLeaving = said.contains { $0.request.message == .goodbye }
        end()
        world.truth.lost(self, wasLeaving: wasLeaving)
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
        onOver()
    }
}
