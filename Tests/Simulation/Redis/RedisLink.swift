// A worker's connection to Redis, which reconnects automatically and detects a dead connection by its silence. It uses
// the time limits of the real one.

internal import RollcallCore

/// Receives the events of a ``RedisLink``.
protocol RedisLinkUser: AnyObject {
    /// Called when a connection is open and nothing was sent on it yet.
    func linkOpened()
    /// Called when ``RedisLink/ticks`` has increased.
    func linkTicked()
    /// Called when the connection is gone.
    func linkLost()
}

/// A connection to Redis that is replaced when it is lost.
final class RedisLink: ConnectionEnd {
    private enum State {
        case idle
        case connecting(Connection)
        case open(Connection, RedisSession)
        case pausing
        case closed
    }

    let name: String
    let process: Process
    weak var user: (any RedisLinkUser)?
    /// The loop's own clock: a suspended process counts the whole pause as one tick.
    private(set) var ticks = 0

    private unowned let world: World
    private let route: Route
    private var state = State.idle
    private var failures = 0
    private var openedAt = 0

    private static let tick = Duration.milliseconds(250)
    private static let deadAfter = Duration.seconds(3)
    private static let connectTimeout = Duration.seconds(1)
    static let ticksPerPing = 4

    init(_ world: World, name: String, over route: Route, of process: Process) {
        self.world = world
        self.name = name
        self.route = route
        self.process = process
    }

    func start() {
        connect()
    }

    /// - Parameter pause: how long the network delays what was sent.
    func close(holdingBackFor pause: Duration = .zero) {
        let last = state
        state = .closed
        switch last {
        case .connecting(let connection), .open(let connection, _):
            if pause > .zero { connection.holdBack(for: pause) }
            connection.close(at: .client)
        case .idle, .pausing, .closed: break
        }
    }

    /// Closes the current connection and opens another one.
    func drop(_ reason: String) {
        guard case .open(let connection, _) = state else { return }
        world.trace.note(name, "drops its connection: \(reason)")
        connection.close(at: .client)
        lost()
    }

    /// Returns whether what began at `moment` has taken longer than a live Redis would take.
    func isOverdue(since moment: Int) -> Bool {
        Self.tick * (ticks - moment - 1) >= Self.deadAfter
    }

    /// Sends a message over the current connection. Replies are delivered only while that connection is current.
    func send(_ message: @escaping (RedisSession, _ isCurrent: @escaping () -> Bool) -> Void) {
        guard case .open(let connection, let session) = state else { return }
        connection.sendToServer { message(session) { self.isCurrent(connection) } }
    }

    /// Delivers an event from Redis that has arrived at this machine.
    func arrives(if isCurrent: @escaping () -> Bool, _ event: @escaping () -> Void) {
        process.arrives { if isCurrent() { event() } }
    }

    func connectionEnded(_ connection: Connection) {
        process.arrives { [self] in
            switch state {
            case .connecting(let current) where current === connection: lost()
            case .open(let current, _) where current === connection:
                world.trace.note(name, "loses its connection")
                lost()
            case .idle, .connecting, .open, .pausing, .closed: break
            }
        }
    }

    private func isCurrent(_ connection: Connection) -> Bool {
        if case .open(let current, _) = state { return current === connection }
        return false
    }

    private func connect() {
        guard case .closed = state else {
            let connection = Connection(over: route, client: self, agenda: world.agenda)
            state = .connecting(connection)
            var session: RedisSession?
            connection.open {
                session = self.world.redis.accept(connection, from: self.name)
                return session
            } opened: {
                self.process.arrives { if let session { self.opened(connection, session) } }
            }
            process.after(Self.connectTimeout) { [self] in timedOut(connection) }
            return
        }
    }

    private func opened(_ connection: Connection, _ session: RedisSession) {
        guard case .connecting(let current) = state, current === connection else { return }
        state = .open(connection, session)
        openedAt = ticks
        scheduleTick(of: connection)
        user?.linkOpened()
    }

    private func timedOut(_ connection: Connection) {
        guard case .connecting(let current) = state, current === connection else { return }
        connection.close(at: .client)
        lost()
    }

    private func scheduleTick(of connection: Connection) {
        process.after(Self.tick) { [self] in
            guard isCurrent(connection) else { return }
            ticks += 1
            if ticks - openedAt == Self.ticksPerPing { failures = 0 }
            scheduleTick(of: connection)
            user?.linkTicked()
        }
    }

    private func lost() {
        let wasOpen = if case .open = state { true } else { false }
        state = .pausing
        let longest = min(Duration.milliseconds(500), .milliseconds(50) * (1 << min(failures, 8)))
        failures += 1
        process.after(process.chance.duration(in: longest / 2...longest)) { [self] in connect() }
        if wasOpen { user?.linkLost() }
    }
}
