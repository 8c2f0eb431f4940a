// Taking over what dead incarnations left: their devices go offline, batch by batch, and their names are forgotten last.

public import RollcallModel

/// A device whose record names a dead incarnation.
public struct DeadDevice: Hashable, Sendable {
    public var name: SessionName
    public var incarnation: Incarnation

    public init(name: SessionName, incarnation: Incarnation) {
        self.name = name
        self.incarnation = incarnation
    }
}

/// The sweeps that this worker is about, one step at a time for each dead incarnation.
public struct Sweeper: Sendable {
    public enum Step: Hashable, Sendable {
        /// Ask to be its sweeper, and for some of the sessions that it had.
        case claim(Incarnation)
        /// Remove these devices, where the record still names the dead incarnation and the session, and strike them
        /// off its list.
        case sweep([SessionName], of: Incarnation)
        /// Nothing is left of it: drop its lease and its hash.
        case forget(Incarnation)
    }

    private enum UnderWay: Hashable, Sendable {
        /// All that it left, as its list says.
        case everything
        /// Devices met in records.
        case met
    }

    /// How many devices one step takes at most.
    public static let batch = 100
    /// How many devices met in records wait at most. Whoever reads them again meets those beyond it again.
    static let waiting = 10_000

    private var underWay: [Incarnation: UnderWay] = [:]
    /// Devices of the dead that were met in records, which their lists may not name.
    private var met: [Incarnation: Set<SessionName>] = [:]
    private var metCount = 0

    public init() {}

    /// Reads met devices of dead incarnations.
    public mutating func met(_ devices: [DeadDevice]) {
        for device in devices where metCount < Self.waiting {
            if met[device.incarnation, default: []].insert(device.name).inserted { metCount += 1 }
        }
    }

    /// The worker may sweep: what is not under way begins.
    ///
    /// - Parameter passed: the incarnations whose lease has passed.
    public mutating func begin(passed: [Incarnation]) -> [Step] {
        let claims = passed.filter { underWay[$0] == nil }
        for dead in claims { underWay[dead] = .everything }
        let others = met.keys.filter { underWay[$0] == nil }.sorted()
        for dead in others { underWay[dead] = .met }
        return claims.map { .claim($0) } + others.map { takeMet(of: $0) }
    }

    /// A claim was answered: with sessions, with none left, or (`nil`) because another worker sweeps it.
    public mutating func claimed(_ dead: Incarnation, sessions: [SessionName]?) -> Step? {
        guard let sessions else {
            ended(dead)
            return nil
        }
        forgetMet(sessions, of: dead)
        return sessions.isEmpty ? .forget(dead) : .sweep(sessions, of: dead)
    }

    /// A batch is done and its sessions are off the list.
    public mutating func swept(_ dead: Incarnation) -> Step? {
        switch underWay[dead] {
        case .everything: return .claim(dead)
        case .met where met[dead] != nil: return takeMet(of: dead)
        case .met, nil:
            ended(dead)
            return nil
        }
    }

    /// The sweep ended: the incarnation is forgotten, or a step failed and a later heartbeat begins again.
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
