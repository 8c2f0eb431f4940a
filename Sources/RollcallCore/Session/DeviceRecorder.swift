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
        /// With a token that was issued then.
        case writing(sequence: Int64, issued: Timestamp?)
        case unlisting(Incarnation)
    }

    /// What Redis may hold of the device because of this session.
    private enum Trace: Hashable, Sendable {
        /// Nothing: Redis was never asked, or refused what it was asked last. If the device goes now, the session owes
        /// Redis nothing.
        case nothing
        /// Nothing yet, but Redis was asked and has not refused. If the device goes now, its removal is written: an older
        /// session may stand in the record, and a goodbye takes effect at once.
        case asked
        /// A write took effect, or may have. The device's removal is owed until Redis takes it.
        case written
    }

    /// What a failed step did in Redis.
    public enum Failure: Hashable, Sendable {
        /// Nothing: the step was never sent, or refused as a whole.
        case withoutEffect
        /// The step may have taken effect: its reply was lost.
        case unknown
    }

    public let name: SessionName
    /// What was last decided: the state (`nil` is gone), and since when the connection is lost, or nobody was there.
    public private(set) var state: DeviceState?
    public private(set) var lost: Timestamp?
    /// How many decisions were taken: the SEQ of the latest.
    public private(set) var sequence: Int64 = 0
    /// When the connection was opened, which orders the sessions of a device: a hello that a client has given up may be
    /// read after that of its next attempt elsewhere.
    private let opened: Instant
    private var began: Timestamp?
    private var writtenSequence: Int64 = 0
    private var listedUnder: Incarnation?
    private var underWay: UnderWay?
    /// A step failed: nothing is tried again before ``retry()``.
    private var isBlocked = false
    /// How long a first write counts. Each one that arrives too late is followed by one that counts four times as long,
    /// so that a session is written even where Redis takes seconds to answer.
    private var firstWriteLife = Duration.seconds(1)
    /// What others say of the user comes first: nothing is said before ``released()``, or a decision.
    private var isHeldBack = false
    /// The session ended without its device: nothing more is written.
    private var isAbandoned = false
    private var trace = Trace.nothing
    /// When the session's token was issued; `nil` if it needs none.
    private var issued: Timestamp?
    /// Until when others may have shown that somebody was there, not having been told of the loss of the connection.
    private var reckoned: Timestamp?

    public init(name: SessionName, opened: Instant, issued: Timestamp? = nil) {
        self.name = name
        self.opened = opened
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
        // Nobody waits for its reply any more.
        if case .writing = underWay { trace = .written }
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
    private var isOver: Bool { isAbandoned || (state == nil && (isWritten(sequence) || trace == .nothing)) }

    /// Whether Redis may say that the device is there although this session's device is gone: if nobody writes the
    /// removal, a sweep has to follow.
    var owesRemoval: Bool { !isAbandoned && trace == .written && !(state == nil && isWritten(sequence)) }

    /// Whether Redis may come to say so, although nothing is known to stand there: a write is under way. A removal that
    /// is under way leaves nothing.
    var mayLeaveDevice: Bool {
        if owesRemoval { return true }
        guard !isAbandoned, case .writing(let written, _) = underWay else { return false }
        return state != nil || written != sequence
    }

    /// Whether the device is there and no write of this session has taken effect yet.
    var awaitsFirstWrite: Bool { !isAbandoned && state != nil && writtenSequence == 0 }

    /// What to do next; `nil` while a step is under way, blocked, or all is done.
    ///
    /// - Parameters:
    ///   - until: the write deadline of the worker's lease.
    ///   - time: Redis time now. A first write counts only for a short time, since its age would be wrong later.
    public mutating func nextStep(
        under incarnation: Incarnation, until: Timestamp, time: Timestamp, at now: Instant
    ) -> Step? {
        guard underWay == nil, !isBlocked else { return nil }
        // It counts as asked although it is held back: Redis is there.
        if trace == .nothing, state != nil { trace = .asked }
        guard !isHeldBack else { return nil }
        if isOver {
            guard let listedUnder else { return nil }
            underWay = .unlisting(listedUnder)
            return .unlist(name, under: listedUnder)
        }
        guard !isWritten(sequence) else { return nil }
        // A device that is gone leaves nothing to sweep, and need not be listed first.
        guard listedUnder == incarnation || state == nil else {
            underWay = .listing(incarnation)
            return .list(name, under: incarnation)
        }
        underWay = .writing(sequence: sequence, issued: issued)
        let age = now - opened
        return .write(
            DeviceWrite(
                name: name, state: state, incarnation: incarnation, began: began, age: age,
                opened: time.advanced(by: .zero - age), sequence: sequence, lost: lost.map { max($0, reckoned ?? $0) },
                until: began == nil ? min(until, time.advanced(by: firstWriteLife)) : until, issued: issued))
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
        guard case .writing(sequence, let asked) = underWay else { return .goOn }
        underWay = nil
        began = written.began ?? began
        switch written.outcome {
        case .written, .done, .late:
            trace = .written
            writtenSequence = max(writtenSequence, sequence)
            reckoned = nil
            return .goOn
        case .expired:
            // The next heartbeat brings a new deadline, and a first write is sent again with its new age. Not at
            // once: while the lease is over, or the clock behind by a second, that would go on without a pause.
            isBlocked = true
            if began == nil { firstWriteLife = min(firstWriteLife * 4, .seconds(64)) }
            return .goOn
        case .replaced:
            isAbandoned = true
            return .replaced
        case .revoked where asked != issued:
            // A fresh token came meanwhile: the decision is written again with that.
            return .goOn
        case .revoked:
            // A session that was never written, or whose removal is refused, has nothing to remove: what is there is
            // another's. A session that was replaced during the write stays abandoned, or it would write without end.
            if writtenSequence == 0 || (state == nil && sequence == self.sequence) { isAbandoned = true }
            return .revoked
        }
    }

    /// A step failed. One of a former incarnation is not the one under way, and changes nothing.
    public mutating func failed(_ step: Step, _ failure: Failure = .unknown) {
        let failed: UnderWay =
            switch step {
            case .list(_, let incarnation): .listing(incarnation)
            case .write(let write): .writing(sequence: write.sequence, issued: write.issued)
            case .unlist(_, let incarnation): .unlisting(incarnation)
            }
        guard underWay == failed else { return }
        underWay = nil
        isBlocked = true
        switch (step, failure) {
        case (.write, .unknown): trace = .written
        case (.list, .withoutEffect), (.write, .withoutEffect): if trace == .asked { trace = .nothing }
        case (.list, .unknown), (.unlist, _): break
        }
    }

    /// A heartbeat was answered: what failed may be tried again.
    public mutating func retry() {
        isBlocked = false
    }
}
