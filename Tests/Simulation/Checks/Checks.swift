// The promises, looked at whenever somebody is told something, and often in between.

internal import RollcallCore
internal import RollcallModel

/// A broken promise.
public struct Violation: Hashable, Sendable, CustomStringConvertible {
    /// Which promise.
    public let promise: String
    public let what: String
    /// Seconds of virtual time.
    public let at: String

    public var description: String { "\(at)  \(promise): \(what)" }
}

/// Watches a run.
final class Checks {
    private(set) var violation: Violation?
    unowned let world: World
    private var expected: (at: Instant, revision: Int, by: [Int: Expectation])

    /// How long news takes where nothing is amiss.
    static let lag = Duration.milliseconds(500)
    /// How long it may take after an outage.
    static let settling = Duration.seconds(2)

    init(_ world: World) {
        self.world = world
        expected = (world.agenda.now, 0, [:])
    }

    /// The first broken promise is what a run tells of: what follows is often its consequence.
    func fail(_ promise: String, _ what: @autoclosure () -> String) {
        guard violation == nil else { return }
        violation = Violation(promise: promise, what: what(), at: world.agenda.now.text)
        world.trace.note("BROKEN", "\(promise): \(what())")
    }

    /// What those may be shown whose worker is where this one's is.
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

    /// Looks at everybody now and then: what did not come is not seen when something comes.
    func watch() {
        world.agenda.after(.milliseconds(400)) { [self] in
            for edge in world.observers { checkView(of: edge) }
            watch()
        }
    }

    /// A worker has told an observer something.
    ///
    /// - Parameter before: the observer's view until then.
    func told(_ message: ServerMessage, to edge: EdgeSession, before: View) {
        switch message {
        case .presence(let presences, _):
            for presence in presences {
                checkVersion(presence, before, edge)
                checkLastSeen(presence, before, edge)
                checkPresence(presence, for: edge)
            }
        case .typing(let typing):
            checkNotSelf(typing, edge)
            checkMembership(typing, edge)
            checkTyping(in: typing.conversation, for: edge)
        case .welcome, .members, .removed, .pong, .ack, .error, .goodbye: break
        }
    }

    /// A device has said hello, and its worker has thought about it.
    func greeted(_ edge: EdgeSession) {
        if !edge.isOpen { fail("Redis away is weather", "\(edge.name) was not welcomed at once") }
    }

    func closed(_ edge: EdgeSession, _ code: CloseCode) {
        switch code {
        case .normal, .draining: break
        case .replaced:
            let device = world.truth.device(of: edge)
            guard device.current === edge, !device.isContested else { break }
            fail("order of sessions", "\(edge.name) was replaced, and is the newest")
        default: fail("sessions stay", "\(edge.name) was closed: \(code)")
        }
    }

    private func checkView(of edge: EdgeSession) {
        guard edge.isOpen, !edge.isBehind, edge.worker.process.isRunning else { return }
        for user in world.users { checkWatched(user, for: edge) }
        for conversation in world.conversations { checkTyping(in: conversation, for: edge) }
    }
}
