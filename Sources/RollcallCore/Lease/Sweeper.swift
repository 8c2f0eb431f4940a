// Taking over what a dead incarnation left: its devices go offline, batch by batch, and its name is forgotten last.

public import RollcallModel

/// The sweeps that this worker is about, one step at a time for each dead incarnation.
public struct Sweeper: Sendable {
    public enum Action: Hashable, Sendable {
        /// Ask to be its sweeper, and for some of the sessions that it had.
        case claim(Incarnation)
        /// Remove these devices, where the record still names the dead incarnation and the session.
        case sweep([SessionName], of: Incarnation)
        /// Nothing is left of it: drop its lease and its hash.
        case forget(Incarnation)
    }

    private var underWay: Set<Incarnation> = []

    public init() {}

    /// Leases passed: each dead incarnation that is not being swept is claimed.
    public mutating func died(_ incarnations: [Incarnation]) -> [Action] {
        incarnations.filter { underWay.insert($0).inserted }.map { .claim($0) }
    }

    /// A claim was answered: with sessions, with none left, or (`nil`) because another worker sweeps it.
    public mutating func claimed(_ incarnation: Incarnation, sessions: [SessionName]?) -> [Action] {
        guard let sessions else {
            underWay.remove(incarnation)
            return []
        }
        guard sessions.isEmpty else { return [.sweep(sessions, of: incarnation)] }
        return [.forget(incarnation)]
    }

    /// A batch is done and its sessions are off the list.
    public mutating func swept(_ incarnation: Incarnation) -> [Action] {
        [.claim(incarnation)]
    }

    /// The sweep ended: the incarnation is forgotten, or a step failed and a later heartbeat begins again.
    public mutating func ended(_ incarnation: Incarnation) {
        underWay.remove(incarnation)
    }
}
