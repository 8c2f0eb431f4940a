// Checks the promises whenever an observer receives something, and often in between.

internal import RollcallCore
internal import RollcallProtocol

/// A broken promise.
public struct Violation: Hashable, Sendable, CustomStringConvertible {
    /// The name of the promise.
    public let promise: String
    public let what: String
    /// Seconds of virtual time.
    public let at: String

    public var description: String { "\(at)  \(promise): \(what)" }
}

/// Checks a run.
final class Checks {
    /// When a device last said hello.
    private(set) var lastHello = Instant(nanoseconds: 0)
    private(set) var violation: Violation?
    unowned let world: World
    /// Users who were shown as offline, whom somebody had seen before; by whomever and whenever last.
    var shownOffline: [UserID: (presence: Presence, at: Instant)] = [:]
    private var expected: (at: Instant, revision: Int, by: [Int: Expectation])

    /// How long an update may take when there is no outage.
    static let lag = Duration.milliseconds(500)
    /// How long a message may wait for budgets: as long as the smallest budgets take for everything that a user asks
    /// for.
    static let waiting = Duration.seconds(15)
    /// How long an update may take after a worker has begun a new incarnation because it dropped sessions.
    static let holdingBack = WeakerStates.delay + WeakerStates.removals + lag
    /// How long an update may take after an outage.
    static let settling = Duration.seconds(2)

    init(_ world: World) {
        self.world = world
        expected = (world.agenda.now, 0, [:])
    }

    /// Records the first broken promise; later ones are often its consequence.
    func fail(_ promise: String, _ what: @autoclosure () -> String) {
        guard violation == nil else { return }
        violation = Violation(promise: promise, what: what().spelledOut, at: world.agenda.now.text)
        world.trace.note("BROKEN", "\(promise): \(what())")
    }

    /// Returns what observers may be shown whose worker runs where this one's does.
    func expectation(for edge: EdgeSession) -> Expectation {
        if world.weather.spells.contains(where: { $0.place == edge.place }) {
            return Expectation(world, at: edge.places)
        }
        if expected.at != world.agenda.now || expected.revision != world.revision {
            expected = (world.agenda.now, world.revision, [:])
        }
        if let known = expected.by[edge.worker.place] { return known }
        let expectation = Expectation(world, at: edge.places)
        expected.by[edge.worker.place] = expectation
        return expectation
    }

    /// Checks all observers regularly, since missing updates cause no event.
    func watch() {
        world.agenda.after(.milliseconds(400)) { [self] in
            for edge in world.observers { checkView(of: edge) }
            for client in world.clients { checkClient(client) }
            checkLingering()
            checkSettling()
            watch()
        }
    }

    /// Checks a message that a worker sent to an observer.
    ///
    /// - Parameter before: the observer's view until then.
    func told(_ message: ServerMessage, to edge: EdgeSession, before: View) {
        if let id = edge.view.strayAnswer { fail("one answer", "\(edge.name) is answered \(id) once too often") }
        switch message {
        case .presence(let presences, _):
            for presence in presences where checkMaySee(presence, for: edge) {
                checkVersion(presence, before, edge)
                checkLastSeen(presence, before, edge)
                checkBackground(presence, edge)
                checkPresence(presence, for: edge)
            }
        case .typing(let typing):
            checkNotSelf(typing, edge)
            checkMembership(typing, edge)
            checkTyping(in: typing.conversation, for: edge)
        case .removed(let conversation): checkStays(in: conversation, edge)
        case .welcome, .members, .here, .person, .pong, .ack, .error, .goodbye: break
        }
    }

    /// Checks a session after the worker has processed its `hello`. If the token has expired, the session may be
    /// closed.
    func greeted(_ edge: EdgeSession) {
        lastHello = world.agenda.now
        if !edge.isOpen, edge.closeCode != .tokenExpired {
            fail("Redis may be away", "\(edge.name) was not welcomed at once")
        }
    }

    func closed(_ edge: EdgeSession, _ code: CloseCode) {
        // Its device comes back with a fresh token.
        if code == .tokenExpired { lastHello = world.agenda.now }
        switch code {
        case .normal, .draining: break
        case .replaced:
            let device = world.truth.device(of: edge)
            guard device.current === edge, !device.isContested else { break }
            fail("order of sessions", "\(edge.name) was replaced, and is the newest")
        case .sentAway:
            if !world.truth.wasSentAway(edge) {
                fail("nobody else", "\(edge.name) was sent away, and nobody asked for it")
            }
        case .badToken:
            guard !world.truth.mayBeRevoked(edge) else { break }
            fail("nobody else", "\(edge.name) was refused, and its token was not revoked")
        case .tokenExpired:
            guard !edge.showedExpiredToken, let token = edge.token, token.expires > world.agenda.now,
                !world.truth.mayBeRevoked(edge)
            else { break }
            fail("nobody else", "\(edge.name) was closed for its token, which is good")
        case .late where edge.mayBeLate: break
        default: fail("sessions stay", "\(edge.name) was closed: \(code)")
        }
    }

    /// Checks that what is held back while an outage settles is not held back without end, also if outages follow one another
    /// and while every answer is late.
    private func checkSettling() {
        let (now, settings) = (world.agenda.now, world.settings)
        for worker in world.workers where worker.process.isRunning {
            guard let since = worker.settlingSince else { continue }
            let isLate = world.weather.spells.contains { $0.isLateness && ($0.to ?? now) >= since }
            let answer = isLate ? settings.longestAnswer : .zero
            // Until the worker has connected again, and from its last heartbeat on, nothing counts.
            let unseen = Self.settling + .milliseconds(700) + settings.heartbeat + answer * 2
            let stretches = world.weather.stretches(
                since: since, until: now, at: worker.places + worker.places.compactMap(\.judge))
            let counted = stretches.reduce(.zero) { $0 + max(.zero, $1 - unseen) }
            if counted > max(.zero, settings.lease - Self.settling) + settings.heartbeat + answer * 2 {
                fail(
                    "protections end",
                    "\(worker.name) lets nobody go since \(since.text), of which \(counted.text) were calm")
            }
        }
    }

    /// Checks that ended sessions do not pile up while Redis refuses writes.
    private func checkLingering() {
        for shard in world.workers.flatMap(\.shards) {
            let lingering = shard.shard.lingeringSessionCount
            let bounds = world.settings.shard.bounds
            guard lingering > max(bounds.lingeringSessions, bounds.lingeringPerOpen * shard.mostOpen) else { continue }
            fail("bounded state", "\(shard.name) keeps \(lingering) sessions without a connection")
        }
    }

    /// What was said before this has had its effect, also where it waits for the app's server: at most two seconds once Redis,
    /// after an outage, has been read.
    func askedCalm(for edge: EdgeSession) -> Instant {
        guard world.app != nil else { return world.calm(at: edge.places) }
        let patience = Duration.seconds(3)
        return world.calm(at: edge.places, settling: Self.settling + patience) - patience
    }

    /// Checks that every message with an id is answered, unless there is an outage.
    private func checkAnswers(to edge: EdgeSession) {
        let calm = world.calm(at: edge.places)
        // Requests that exceed the message rate wait: a conversation's members, and messages sent after that request.
        let patience =
            edge.lastWaited.map { world.agenda.now - $0 < Self.lag * 2 } ?? false ? Self.waiting : Self.lag * 2
        let written = min(calm, world.heldBack(at: edge.places))
        let late = edge.view.asked.values.compactMap { asked -> (at: Instant, message: ClientMessage)? in
            asked.taken.flatMap { taken in
                if let conversation = asked.message.joins, mayWait(in: conversation, edge) { return nil }
                // Answers follow what is shown before them.
                let known = min(asked.message.isDecision ? written : calm, askedCalm(for: edge))
                return taken < known - patience ? (at: taken, message: asked.message) : nil
            }
        }
        if let first = late.min(by: { $0.at < $1.at }) {
            fail("one answer", "\(edge.name) waits since \(first.at.text) for the answer to \(first.message.text)")
        }
        if let (request, came) = edge.oldestWaiting, came < calm - Self.waiting {
            fail("taken in time", "\(edge.name) has said \(request.message.text) at \(came.text), and nobody takes it")
        }
    }

    /// Checks that no session outlives its token or a revocation.
    private func checkToken(of edge: EdgeSession) {
        guard let token = edge.token, edge.worker.process.hasRun(for: Self.lag) else { return }
        if token.expires < world.agenda.now - Self.lag { fail("tokens end", "\(edge.name) outlives its token") }
        let settled = world.calm(at: edge.places + [.redis]) - Self.settling - untold(edge)
        if edge.began < settled, !world.truth.isRevocationLost(edge.user), world.truth.isRevoked(edge, before: settled)
        {
            fail("tokens end", "\(edge.name) outlives a revocation")
        }
    }

    /// How long a session may outlive a revocation if its worker could not be notified, because the record names a
    /// newer session of the device, or because of an outage: until the audit checks it.
    private func untold(_ edge: EdgeSession) -> Duration {
        guard world.truth.device(of: edge).current !== edge || world.truth.wasUnreached(edge) else { return .zero }
        let settings = world.settings.shard
        return settings.bounds.auditCycle * 2 + world.settings.heartbeat * (world.devices.count + 2)
    }

    private func checkView(of edge: EdgeSession) {
        guard edge.isOpen, !edge.isBehind, edge.worker.process.isRunning else { return }
        checkToken(of: edge)
        checkAnswers(to: edge)
        for user in world.users { checkWatched(user, for: edge) }
        for conversation in world.conversations { checkTyping(in: conversation, for: edge) }
    }
}

extension ClientMessage {
    /// Whether it is answered when what it decides is written.
    fileprivate var isDecision: Bool {
        switch self {
        case .hello, .state, .enter, .exit: true
        case .token, .watch, .unwatch, .get, .join, .leave, .typing, .person, .ping, .goodbye: false
        }
    }
}

extension ClientMessage {
    /// The conversation that has to be joined first.
    fileprivate var joins: ConversationID? {
        switch self {
        case .join(let conversation, _, _), .enter(let conversation, _), .exit(let conversation),
            .typing(let conversation, _, _):
            conversation
        default: nil
        }
    }
}
