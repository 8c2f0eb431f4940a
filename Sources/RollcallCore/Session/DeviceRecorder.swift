// Writes one session's decisions to Redis: in order, once each, across failures.

public import RollcallProtocol

/// Brings a device's record up to its session's last decision: adds the session to the list of the worker's
/// incarnation, writes the latest decision, and removes the session from the list when the device is gone.
///
/// One step runs at a time. A decision made during a step is written next. Intermediate decisions are skipped, since
/// the record holds a state and not a history.
public struct DeviceRecorder: Hashable, Sendable {
    public enum Step: Hashable, Sendable {
        case list(SessionName, under: Incarnation)
        case write(DeviceWrite)
        case unlist(SessionName, under: Incarnation)
    }

    /// What the reply to a write means for the session.
    public enum Verdict: Hashable, Sendable {
        case goOn
        /// A newer session of the device exists; this one ends.
        case replaced
        /// The session's token was revoked; the session ends.
        case revoked
    }

    private enum UnderWay: Hashable, Sendable {
        case listing(Incarnation)
        /// `issued` is when the token used for this write was issued.
        case writing(sequence: Int64, issued: Timestamp?)
        case unlisting(Incarnation)
    }

    /// What Redis may hold of the device because of this session.
    private enum Trace: Hashable, Sendable {
        /// Nothing: Redis was never asked, or refused the last request. A removal need not be written.
        case nothing
        /// Nothing yet, but Redis was asked and has not refused. If the device goes now, its removal is written: the
        /// record may contain an older session, and a goodbye takes effect at once.
        case asked
        /// A write took effect, or may have. A removal must be written.
        case written
    }

    public let name: SessionName
    /// The last decision: the state (`nil` for gone), and when the connection was lost or, for a removal, until when
    /// the user was present.
    public private(set) var state: DeviceState?
    public private(set) var lost: Timestamp?
    /// The number of decisions so far, which is the SEQ of the latest one.
    public private(set) var sequence: Int64 = 0
    /// When the connection was opened, which orders the sessions of a device. The time of the hello would not do: a
    /// worker may read a hello after the client gave up and connected elsewhere.
    private let opened: Instant
    private var began: Timestamp?
    private var writtenSequence: Int64 = 0
    /// The incarnation on whose list the session is, as far as is known. The session is unlisted before it is finished.
    private var listedUnder: Incarnation?
    /// Whether the session has to be listed again before the next write, because Redis may have lost the entry.
    private var isToBeListedAgain = false
    private var underWay: UnderWay?
    /// Whether a step failed: nothing is tried again before ``retry()``.
    private var isBlocked = false
    /// Whether Redis has taken a write of the session under the present incarnation: no newer session had the device then.
    private(set) var isConfirmed = false
    /// How long a first write stays valid. Each one that arrives too late makes the next one valid four times as long,
    /// so that a session is written even if Redis takes seconds to answer.
    private var firstWriteLife = Duration.seconds(1)
    /// Whether the session ended and its device belongs to another session: nothing more is written.
    private var isAbandoned = false
    private var trace = Trace.nothing
    /// When the session's token was issued; `nil` if the session needs none.
    private var issued: Timestamp?
    /// What the session's token says of the user.
    private(set) var profile: Profile
    /// Until when other workers may have shown the device as present, not knowing that its connection was lost.
    private var reckoned: Timestamp?

    public init(name: SessionName, opened: Instant, issued: Timestamp? = nil, profile: Profile = Profile()) {
        self.name = name
        self.opened = opened
        self.issued = issued
        self.profile = profile
    }

    /// Whether a token issued at this time is older than the current one.
    func isOlder(_ issued: Timestamp?) -> Bool {
        guard let issued, let known = self.issued else { return false }
        return issued < known
    }

    /// Whether this revocation applies to the session's token.
    func isRevoked(by revocation: Timestamp?) -> Bool {
        guard let issued, let revocation else { return false }
        return issued < revocation
    }

    /// Handles a fresh token from the client.
    public mutating func refreshed(issued: Timestamp?) {
        self.issued = issued.flatMap { fresh in self.issued.map { max($0, fresh) } }
    }

    /// Records a decision.
    ///
    /// - Returns: its number. Once ``isWritten(_:)`` is true for it, the decision is in Redis.
    @discardableResult
    public mutating func decided(state: DeviceState?, lost: Timestamp? = nil) -> Int64 {
        if sequence == 0 || state != self.state || lost != self.lost {
            self.state = state
            self.lost = lost
            sequence += 1
        }
        return sequence
    }

    /// Records what a fresh token says of the user; one that says nothing changes nothing.
    ///
    /// - Returns: the number of the decision.
    mutating func decided(profile: Profile) -> Int64 {
        if profile != self.profile, !profile.isEmpty {
            self.profile = profile
            if sequence > 0, saysWho { sequence += 1 }
        }
        return sequence
    }

    /// Only a device that is seen says who uses it.
    private var saysWho: Bool { state == .active || state == .idle }

    /// Decides that the device is gone. The decision includes until when the user was present, which may be long before
    /// it is written.
    public mutating func removed(at time: Timestamp) {
        let wasSeen = state == .active || state == .idle
        decided(state: nil, lost: wasSeen ? lost ?? time : nil)
    }

    /// Schedules the session's last decision to be written again under a new incarnation.
    ///
    /// - Parameter lastBeat: the previous heartbeat, until which other workers may have counted the device as present.
    public mutating func asserted(lastBeat: Timestamp?) {
        if lost == nil || !isWritten(sequence) { reckoned = lastBeat }
        drifted()
        isConfirmed = false
        // A sweep removes the whole list of the former incarnation.
        listedUnder = nil
    }

    /// Handles that Redis does not hold the session's decision: it is listed and written again.
    public mutating func drifted() {
        isBlocked = false
        // The reply to a write in flight is no longer awaited, so its effect is unknown.
        if case .writing = underWay { trace = .written }
        underWay = nil
        isToBeListedAgain = true
        if sequence > 0 { sequence += 1 }
    }

    /// Ends the session, whose device belongs to another session now. Only its list entry is still removed.
    public mutating func abandoned() {
        isAbandoned = true
    }

    public func isWritten(_ sequence: Int64) -> Bool { writtenSequence >= sequence }

    /// Whether Redis should by now hold the last decision, under `incarnation`.
    public func isSettled(under incarnation: Incarnation) -> Bool {
        underWay == nil && isListed(under: incarnation) && !isAbandoned && state != nil && isWritten(sequence)
    }

    private func isListed(under incarnation: Incarnation) -> Bool {
        listedUnder == incarnation && !isToBeListedAgain
    }

    /// Whether an ended session has nothing left to do.
    public var isFinished: Bool { underWay == nil && listedUnder == nil && isOver }

    /// Whether nothing will ever be written again.
    private var isOver: Bool { isAbandoned || (state == nil && (isWritten(sequence) || trace == .nothing)) }

    /// Whether Redis may hold the device although it is gone. If this session does not write the removal, a sweep has
    /// to remove it.
    var owesRemoval: Bool { !isAbandoned && trace == .written && !(state == nil && isWritten(sequence)) }

    /// Whether Redis may hold the device now or after a write in flight. A removal in flight leaves nothing.
    var mayLeaveDevice: Bool {
        if owesRemoval { return true }
        guard !isAbandoned, case .writing(let written, _) = underWay else { return false }
        return state != nil || written != sequence
    }

    /// The incarnation on whose list the session is or may soon be; `nil` if it is not, or is being unlisted.
    var listToLeave: Incarnation? {
        switch underWay {
        case .listing(let incarnation): incarnation
        case .unlisting: nil
        case .writing, nil: listedUnder
        }
    }

    /// Whether the device is there and no write of this session has taken effect yet.
    var awaitsFirstWrite: Bool { !isAbandoned && state != nil && writtenSequence == 0 }

    /// Returns the next step; `nil` while a step is in flight, blocked or held back, or if there is nothing to do.
    ///
    /// - Parameters:
    ///   - until: the write deadline of the worker's lease.
    ///   - time: current Redis time. A first write is valid only for a short time, since its age would be wrong later.
    ///   - isDeferred: whether stronger states of other devices are to be written first.
    public mutating func nextStep(
        under incarnation: Incarnation, until: Timestamp, time: Timestamp, at now: Instant, isDeferred: Bool
    ) -> Step? {
        guard underWay == nil, !isBlocked else { return nil }
        // A step that is held back counts as asked: Redis is reachable.
        if trace == .nothing, state != nil { trace = .asked }
        if isOver {
            guard let listedUnder else { return nil }
            underWay = .unlisting(listedUnder)
            return .unlist(name, under: listedUnder)
        }
        guard !isDeferred, !isWritten(sequence) else { return nil }
        // A device that is gone leaves nothing to sweep, so it need not be listed first.
        guard isListed(under: incarnation) || state == nil else {
            underWay = .listing(incarnation)
            return .list(name, under: incarnation)
        }
        underWay = .writing(sequence: sequence, issued: issued)
        let age = now - opened
        var write = DeviceWrite(
            name: name, state: state, incarnation: incarnation, began: began, age: age,
            opened: time.advanced(by: .zero - age), sequence: sequence, lost: lost.map { max($0, reckoned ?? $0) },
            until: began == nil ? min(until, time.advanced(by: firstWriteLife)) : until, issued: issued)
        if saysWho { write.profile = profile }
        return .write(write)
    }

    public mutating func listed(under incarnation: Incarnation) {
        guard underWay == .listing(incarnation) else { return }
        underWay = nil
        listedUnder = incarnation
        isToBeListedAgain = false
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
            isConfirmed = true
            writtenSequence = max(writtenSequence, sequence)
            reckoned = nil
            return .goOn
        case .expired:
            // The next heartbeat brings a new deadline, and a first write is sent again with its new age. Retrying at
            // once would loop while the lease has expired, or while the worker's estimate of Redis time is a second
            // behind.
            isBlocked = true
            if began == nil { firstWriteLife = min(firstWriteLife * 4, .seconds(64)) }
            return .goOn
        case .replaced:
            isAbandoned = true
            return .replaced
        case .revoked where asked != issued:
            // A fresh token arrived during the write: the decision is written again with it.
            return .goOn
        case .revoked:
            // A session that was never written, or whose removal is refused, has nothing to remove: the record belongs
            // to another session. A session that was replaced during the write stays abandoned, or it would write
            // forever.
            if writtenSequence == 0 || (state == nil && sequence == self.sequence) { isAbandoned = true }
            return .revoked
        }
    }

    /// Handles a failed step. A step of an earlier incarnation is ignored.
    public mutating func failed(_ step: Step, _ failure: StoreFailure = .unknown) {
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

    /// Allows failed steps to run again after a heartbeat was answered.
    public mutating func retry() {
        isBlocked = false
    }
}
