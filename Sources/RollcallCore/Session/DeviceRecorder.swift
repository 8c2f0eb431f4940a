// How one session's decisions come to stand in Redis, in order, once each, whatever fails in between.

public import RollcallModel

/// Brings a device's record to what its session last decided: lists the session under the worker's incarnation,
/// writes the latest decision, and takes the session off the list when the device is gone.
///
/// One step is under way at a time. A decision taken meanwhile is written next; those in between are skipped, since
/// the record holds a state and not a history.
public struct DeviceRecorder: Hashable, Sendable {
    public enum Step: Hashable, Sendable {
        case list(SessionName, under: Incarnation)
        case write(DeviceWrite)
        case unlist(SessionName, under: Incarnation)
    }

    /// What a written decision means for the session.
    public enum Verdict: Hashable, Sendable {
        case goOn
        /// A newer session of the device stands; this one ends.
        case replaced
        /// The session's token counts no more; the session ends.
        case revoked
    }

    private enum UnderWay: Hashable, Sendable {
        case listing(Incarnation)
        case writing(sequence: Int64)
        case unlisting(Incarnation)
    }

    public let name: SessionName
    /// What was last decided: the state (`nil` is gone), and since when the connection is lost, or nobody was there.
    public private(set) var state: DeviceState?
    public private(set) var lost: Timestamp?
    /// How many decisions were taken: the SEQ of the latest.
    public private(set) var sequence: Int64 = 0
    private let hello: Instant
    private var began: Timestamp?
    private var writtenSequence: Int64 = 0
    private var listedUnder: Incarnation?
    private var underWay: UnderWay?
    /// A step failed: nothing is tried again before ``retry()``.
    private var isBlocked = false
    /// What others say of the user comes first: nothing is said before ``released()``, or a decision.
    private var isHeldBack = false
    /// The session ended without its device: nothing more is written.
    private var isAbandoned = false
    /// Whether Redis was there while the session was. A device that came and went while Redis was away owes it nothing;
    /// any other owes its removal, even if nothing else of it was written: a session before it may stand there.
    private var metRedis = false
    /// When the session's token was issued; `nil` if it needs none.
    private var issued: Timestamp?
    /// Until when others may have shown that somebody was there, not having been told of the loss of the connection.
    private var reckoned: Timestamp?

    public init(name: SessionName, hello: Instant, issued: Timestamp? = nil) {
        self.name = name
        self.hello = hello
        self.issued = issued
    }

    /// Whether no revocation can end the session.
    var needsNoToken: Bool { issued == nil }

    /// Whether a token that was issued then is older than the one shown before.
    func isOlder(_ issued: Timestamp?) -> Bool {
        guard let issued, let known = self.issued else { return false }
        return issued < known
    }

    /// Whether the session's token counts no more.
    func isRevoked(by revocation: Timestamp?) -> Bool {
        guard let issued, let revocation else { return false }
        return issued < revocation
    }

    /// The client showed a fresh token.
    public mutating func refreshed(issued: Timestamp?) {
        self.issued = issued.flatMap { fresh in self.issued.map { max($0, fresh) } }
    }

    /// Takes a decision.
    ///
    /// - Returns: its number; the decision stands once ``isWritten(_:)`` says so of it.
    @discardableResult
    public mutating func decided(state: DeviceState?, lost: Timestamp? = nil) -> Int64 {
        if sequence == 0 || state != self.state || lost != self.lost {
            self.state = state
            self.lost = lost
            sequence += 1
            isHeldBack = false
        }
        return sequence
    }

    /// The device is gone. Its record says until when somebody was there, which may be long before it is written.
    public mutating func removed(at time: Timestamp) {
        let wasSeen = state == .active || state == .idle
        decided(state: nil, lost: wasSeen ? lost ?? time : nil)
    }

    /// A new incarnation stands: what the session holds is said again under it.
    ///
    /// - Parameters:
    ///   - heldBack: whether that waits until ``released()``.
    ///   - lastBeat: the last heartbeat before, by which others may have reckoned until when somebody was there.
    public mutating func asserted(heldBack: Bool, lastBeat: Timestamp?) {
        isHeldBack = heldBack
        if lost == nil || !isWritten(sequence) { reckoned = lastBeat }
        drifted()
    }

    public mutating func released() {
        isHeldBack = false
    }

    /// Redis does not say what the session decided: it is listed and written again.
    public mutating func drifted() {
        isBlocked = false
        underWay = nil
        listedUnder = nil
        if sequence > 0 { sequence += 1 }
    }

    /// The session ends here and its device is another's: only the list is still put right.
    public mutating func abandoned() {
        isAbandoned = true
    }

    public func isWritten(_ sequence: Int64) -> Bool { writtenSequence >= sequence }

    /// Whether Redis should say by now what was last decided, under `incarnation`.
    public func isSettled(under incarnation: Incarnation) -> Bool {
        underWay == nil && listedUnder == incarnation && !isAbandoned && state != nil && isWritten(sequence)
    }

    /// Whether nothing is left to do for a session that ended.
    public var isFinished: Bool { underWay == nil && listedUnder == nil && isOver }

    /// Whether nothing is left to write, ever.
    private var isOver: Bool { isAbandoned || (state == nil && (isWritten(sequence) || !metRedis)) }

    /// What to do next; `nil` while a step is under way, blocked, or all is done.
    ///
    /// - Parameters:
    ///   - until: the write deadline of the worker's lease.
    ///   - time: Redis time now. A first write counts for one second only: its age would be wrong later.
    public mutating func nextStep(
        under incarnation: Incarnation, until: Timestamp, time: Timestamp, at now: Instant
    ) -> Step? {
        metRedis = metRedis || state != nil
        guard underWay == nil, !isBlocked, !isHeldBack else { return nil }
        if isOver {
            guard let listedUnder else { return nil }
            underWay = .unlisting(listedUnder)
            return .unlist(name, under: listedUnder)
        }
        guard !isWritten(sequence) else { return nil }
        guard listedUnder == incarnation else {
            underWay = .listing(incarnation)
            return .list(name, under: incarnation)
        }
        underWay = .writing(sequence: sequence)
        let age = now - hello
        return .write(
            DeviceWrite(
                name: name, state: state, incarnation: incarnation, began: began, age: age,
                hello: time.advanced(by: .zero - age), sequence: sequence, lost: lost.map { max($0, reckoned ?? $0) },
                until: began == nil ? min(until, time.advanced(by: .seconds(1))) : until, issued: issued))
    }

    public mutating func listed(under incarnation: Incarnation) {
        guard underWay == .listing(incarnation) else { return }
        underWay = nil
        listedUnder = incarnation
    }

    public mutating func unlisted(under incarnation: Incarnation) {
        guard underWay == .unlisting(incarnation) else { return }
        underWay = nil
        listedUnder = nil
    }

    public mutating func written(_ written: DeviceWritten, sequence: Int64) -> Verdict {
        guard underWay == .writing(sequence: sequence) else { return .goOn }
        underWay = nil
        began = written.began ?? began
        switch written.outcome {
        case .written, .done, .late:
            writtenSequence = max(writtenSequence, sequence)
            reckoned = nil
            return .goOn
        case .expired:
            // The next heartbeat brings a new deadline, and a first write is sent again with its new age. Not at
            // once: while the lease is over, or the clock behind by a second, that would go on without a pause.
            isBlocked = true
            return .goOn
        case .replaced:
            isAbandoned = true
            return .replaced
        case .revoked:
            // A session that never stood, or whose removal is refused, has nothing to remove: what is there is another's.
            isAbandoned = writtenSequence == 0 || (state == nil && sequence == self.sequence)
            return .revoked
        }
    }

    /// A step failed. One of a former incarnation is not the one under way, and changes nothing.
    public mutating func failed(_ step: Step) {
        let failed: UnderWay =
            switch step {
            case .list(_, let incarnation): .listing(incarnation)
            case .write(let write): .writing(sequence: write.sequence)
            case .unlist(_, let incarnation): .unlisting(incarnation)
            }
        guard underWay == failed else { return }
        underWay = nil
        isBlocked = true
    }

    /// A heartbeat was answered: what failed may be tried again.
    public mutating func retry() {
        isBlocked = false
    }
}
