// Redis as a server: the twin behind connections, with everything that can happen to a server.

internal import RedisTwin
internal import RollcallCore
internal import RollcallProtocol

/// The only Redis server of a simulation.
final class RedisServer {
    private(set) var twin: TwinRedis
    private(set) var isUp = true
    /// The condition for which it returns errors.
    var refusal: RedisCommand.Refusal?
    /// How long its answers take.
    var lateness = Duration.zero
    /// How often each command was executed.
    private(set) var executed: [RedisCommand.Kind: Int] = [:]

    private unowned let world: World
    private var sessions: [RedisSession] = []
    /// What arrived while it was suspended.
    private var waiting: [() -> Void] = []
    private var isAsleep = false
    /// How often the process was started.
    private var lives = 1

    private static let start = Timestamp(milliseconds: 1_784_600_000_000)

    init(_ world: World, planted: Set<RedisTwin.PlantedBug>) {
        self.world = world
        twin = TwinRedis(settings: .init(appendsEvents: true), time: Self.start)
        twin.planted = planted
        twin.run = lives
    }

    /// Its clock, which may have been set.
    var time: Timestamp { Self.start.advanced(by: world.agenda.now - Instant(nanoseconds: 0) + steps) }
    private var steps = Duration.zero
    /// The latest time that it has shown before it was set back.
    private var latest = start
    /// Whether its clock was set back and has not caught up. Versions are ahead of it then.
    var isCatchingUp: Bool { time <= latest }

    /// The clock of the workers' hosts and of the token issuers, which is never set.
    func hostTime(at moment: Instant) -> Timestamp { Self.start.advanced(by: moment - Instant(nanoseconds: 0)) }

    /// A copy of the data at some moment, independent of its clock.
    struct Copy {
        let twin: TwinRedis
        let at: Instant
    }

    var copy: Copy { Copy(twin: twin, at: world.agenda.now) }

    /// Whether it processes anything at the moment.
    var isAwake: Bool { isUp && !isAsleep }

    /// Drops references to its clients.
    func end() {
        for session in sessions { session.end() }
        sessions = []
        waiting = []
    }

    // MARK: Connections

    /// Accepts a connection.
    ///
    /// - Returns: `nil` if the server is down.
    func accept(_ connection: Connection, from client: String) -> RedisSession? {
        guard isUp else { return nil }
        let session = RedisSession(connection, from: client, at: self)
        sessions.append(session)
        return session
    }

    func left(_ session: RedisSession) {
        sessions.removeAll { $0 === session }
    }

    /// The topics with at least one subscriber.
    var heardTopics: [Topic] { sessions.flatMap { $0.topics } }

    // MARK: Commands

    /// When a command that is executed now is answered.
    var nextAnswer: Instant { world.agenda.now + lateness }

    func later(_ moment: Instant, _ send: @escaping () -> Void) {
        if moment <= world.agenda.now { send() } else { world.agenda.at(moment, send) }
    }

    /// Runs this now, or when the server resumes.
    func perform(_ work: @escaping () -> Void) {
        if isAsleep { waiting.append(work) } else { work() }
    }

    /// Executes a command.
    ///
    /// - Returns: what the reply does when it arrives.
    func execute(_ command: RedisCommand, from client: String) -> () -> Void {
        if let refusal, command.kind.isRefused(because: refusal) {
            world.trace.note("redis", "refuses \(client)'s \(command.kind): \(refusal)")
            return { command.refuse(refusal) }
        }
        executed[command.kind, default: 0] += 1
        if !command.kind.isRoutine { world.trace.note("redis", "does \(client)'s \(command.kind)") }
        return change { command.execute(&$0) }
    }

    /// Changes the data, and delivers what the change published.
    func change<Value>(_ body: (inout TwinRedis) -> Value) -> Value {
        twin.time = time
        twin.hostTime = hostTime(at: world.agenda.now)
        let value = body(&twin)
        let published = twin.published
        twin.published = []
        world.consumer.appended(to: twin.events, with: published)
        for message in published { publish(message) }
        return value
    }

    private func publish(_ message: Published) {
        world.trace.note("redis", "publishes \(message.text)")
        let topic = message.topic
        let listeners = sessions.filter { $0.topics.contains(topic) }
        guard !listeners.isEmpty else { return }
        let payload = message.payload
        for session in listeners { session.push(payload, on: topic) }
    }

    // MARK: Faults

    /// Suspends the server. What arrives in the meantime is processed when it resumes.
    func sleep() {
        isAsleep = true
    }

    func wake() {
        isAsleep = false
        let work = waiting
        waiting = []
        for item in work { item() }
    }

    /// Stops the process and its connections.
    func stop() {
        isUp = false
        isAsleep = false
        waiting = []
        dropConnections { _ in true }
    }

    /// Restarts the server with these data. Only the members survive, since an operator restores them from a backup.
    func start(with data: Copy?) {
        isUp = true
        lives += 1
        replaceData(with: data)
    }

    /// Replaces everything but the members with an older copy, or deletes it.
    func replaceData(with data: Copy?) {
        let members = world.conversations.compactMap { conversation in
            twin.members(of: conversation).map { (conversation, $0) }
        }
        let planted = twin.planted
        twin.time = time
        if let data { twin = data.twin } else { twin.flush() }
        twin.planted = planted
        twin.run = lives
        world.consumer.dataReplaced(by: twin.events)
        change { twin in
            for (conversation, names) in members where twin.members(of: conversation) != names {
                twin.setMembers(names, of: conversation)
            }
        }
        world.truth.dataReplaced(asOf: data?.at ?? world.agenda.now)
    }

    /// Sets the clock. Leases that were valid may be expired by it, and the other way round.
    func stepClock(by step: Duration) {
        twin.time = time
        latest = max(latest, time)
        twin.setClock(by: step)
        steps += step
        world.truth.clockStepped(by: step)
    }

    /// Closes connections, and drops what is in flight over them.
    func dropConnections(where isMeant: (RedisSession) -> Bool) {
        for session in sessions.filter(isMeant) {
            left(session)
            session.drop(after: world.network.duration(in: .microseconds(100)...Duration.milliseconds(5)))
        }
    }

    /// Drops connections silently: their clients detect it by the silence.
    ///
    /// - Parameter found: called for each of them when its client has noticed, or has itself closed the connection.
    func forgetConnections(where isMeant: (RedisSession) -> Bool, found: () -> () -> Void) {
        for session in sessions.filter(isMeant) {
            left(session)
            session.vanish(found: found())
        }
    }
}
