// Removes what dead incarnations left behind: first their devices and entries, in batches, and then the incarnation's own keys.

public import RollcallProtocol

/// The sweeps that this worker runs: at most one step at a time for each dead incarnation.
public struct Sweeper: Sendable {
    public enum Step: Hashable, Sendable {
        /// Claim the sweep of this incarnation, and read a batch of what it holds.
        case claim(Incarnation)
        /// Remove these devices and lines if they are still those of this incarnation and the session, and then the items from
        /// its lists.
        case sweep([ListItem], of: Incarnation)
        /// Nothing is left of this incarnation: delete its lease and its keys.
        case forget(Incarnation)
    }

    private enum UnderWay: Hashable, Sendable {
        /// Sweeps everything in the incarnation's lists.
        case everything
        /// Sweeps only what reads found.
        case met
    }

    /// The most devices, and the most entries, in one step.
    public static let batch = 100
    /// The most items found by reads that wait to be swept. Further ones are ignored; the next read finds them again.
    static let waiting = 10_000

    private var underWay: [Incarnation: UnderWay] = [:]
    /// What reads found of dead incarnations, which their lists may not contain.
    private var met: [Incarnation: Set<ListItem>] = [:]
    private var metCount = 0

    public init() {}

    /// Queues what a read found of dead incarnations.
    public mutating func met(_ items: [HeldItem]) {
        for held in items where metCount < Self.waiting {
            if met[held.incarnation, default: []].insert(held.item).inserted { metCount += 1 }
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

    /// Handles the reply to a claim: some items, none left, or `nil` if another worker runs the sweep.
    public mutating func claimed(_ dead: Incarnation, items: [ListItem]?) -> Step? {
        guard let items else {
            ended(dead)
            return nil
        }
        forgetMet(items, of: dead)
        return items.isEmpty ? .forget(dead) : .sweep(items, of: dead)
    }

    /// Handles a finished batch, whose items were removed from the lists.
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
        let batch = Array((met[dead] ?? []).sorted { $0.isBefore($1) }.prefix(Self.batch))
        forgetMet(batch, of: dead)
        return .sweep(batch, of: dead)
    }

    private mutating func forgetMet(_ items: [ListItem], of dead: Incarnation) {
        for item in items where met[dead]?.remove(item) != nil { metCount -= 1 }
        if met[dead]?.isEmpty == true { met[dead] = nil }
    }
}

extension ListItem {
    fileprivate func isBefore(_ other: ListItem) -> Bool {
        let (own, others) = (session.session, other.session.session)
        // Only entries of one session are told apart by their text, which takes long to make.
        return own == others ? ByteString(memberText) < ByteString(other.memberText) : own < others
    }
}
