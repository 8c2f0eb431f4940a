// Removes what dead incarnations left behind: first their devices, in batches, and then the incarnation's own keys.

public import RollcallProtocol

/// A device whose record names a dead incarnation.
public struct DeadDevice: Hashable, Sendable {
    public var name: SessionName
    public var incarnation: Incarnation

    public init(name: SessionName, incarnation: Incarnation) {
        self.name = name
        self.incarnation = incarnation
    }
}

/// The sweeps that this worker runs: at most one step at a time for each dead incarnation.
public struct Sweeper: Sendable {
    public enum Step: Hashable, Sendable {
        /// Claim the sweep of this incarnation, and read a batch of its sessions.
        case claim(Incarnation)
        /// Remove these devices if their record still names this incarnation and the session, and remove the sessions
        /// from its list.
        case sweep([SessionName], of: Incarnation)
        /// Nothing is left of this incarnation: delete its lease and its keys.
        case forget(Incarnation)
    }

    private enum UnderWay: Hashable, Sendable {
        /// Sweeps everything in the incarnation's session list.
        case everything
        /// Sweeps only the devices that reads found.
        case met
    }

    /// The most devices in one step.
    public static let batch = 100
    /// The most devices found by reads that wait to be swept. Further ones are ignored; the next read finds them again.
    static let waiting = 10_000

    private var underWay: [Incarnation: UnderWay] = [:]
    /// Devices of dead incarnations that reads found, which the session lists may not contain.
    private var met: [Incarnation: Set<SessionName>] = [:]
    private var metCount = 0

    public init() {}

    /// Queues devices of dead incarnations that a read found.
    public mutating func met(_ devices: [DeadDevice]) {
        for device in devices where metCount < Self.waiting {
            if met[device.incarnation, default: []].insert(device.name).inserted { metCount += 1 }
        }
    }

    /// Starts every sweep that is not already running.
    ///
    /// - Parameter passed: the incarnations whose lease has expired.
    public mutating func begin(passed: [Incarnation]) -> [Step] {
        let claims = passed.filter { underWay[$0] == nil }
        for dead in claims { underWay[dead] = .everything }
        let others = met.keys.filter { underWay[$0] == nil }.sorted()
        for dead in others { underWay[dead] = .met }
        return claims.map { .claim($0) } + others.map { takeMet(of: $0) }
    }

    /// Handles the reply to a claim: some sessions, none left, or `nil` if another worker runs the sweep.
    public mutating func claimed(_ dead: Incarnation, sessions: [SessionName]?) -> Step? {
        guard let sessions else {
            ended(dead)
            return nil
        }
        forgetMet(sessions, of: dead)
        return sessions.isEmpty ? .forget(dead) : .sweep(sessions, of: dead)
    }

    /// Handles a finished batch, whose sessions were removed from the list.
    public mutating func swept(_ dead: Incarnation) -> Step? {
        switch underWay[dead] {
        case .everything: return .claim(dead)
        case .met where met[dead] != nil: return takeMet(of: dead)
        case .met, nil:
            ended(dead)
            return nil
        }
    }

    /// Ends the sweep: the incarnation was deleted, or a step failed and a later heartbeat starts again.
    public mutating func ended(_ dead: Incarnation) {
        underWay[dead] = nil
    }

    private mutating func takeMet(of dead: Incarnation) -> Step {
        let batch = Array((met[dead] ?? []).sorted { $0.session < $1.session }.prefix(Self.batch))
        forgetMet(batch, of: dead)
        return .sweep(batch, of: dead)
    }

    private mutating func forgetMet(_ sessions: [SessionName], of dead: Incarnation) {
        for session in sessions where met[dead]?.remove(session) != nil { metCount -= 1 }
        if met[dead]?.isEmpty == true { met[dead] = nil }
    }
}
