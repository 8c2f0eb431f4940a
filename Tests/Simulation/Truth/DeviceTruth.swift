// What is true of one device: what its newest session decided, as its worker heard it, and what becomes of that when
// the connection, or the worker, is gone.

internal import RollcallCore
internal import RollcallModel

/// The history of a device.
final class DeviceTruth {
    /// From a moment on the device is rightly shown in one of these states.
    struct Claim {
        let from: Instant
        let states: StateSet
    }

    /// A session, from its hello until nothing of it can be seen any more.
    struct Life {
        let edge: EdgeSession
        var state: DeviceState
        /// How Redis may have it.
        var written: StateSet
        /// Whether its hello may never have been written, or when is not certain.
        let isUncertain: Bool
        /// Until when it counts in any case; `nil` while it is connected.
        var ends: Instant?
        /// Whether its worker is gone, so that it is for others to find out.
        var isJudged = false
    }

    let name: DeviceName
    var typing: [ConversationID: TypingTruth] = [:]
    /// The session whose hello came last.
    private(set) var current: EdgeSession?
    /// From a moment on the machine with the worker that answers, or answered last, for the device.
    private var machines: [(from: Instant, place: Weather.Place)] = []
    /// From when on the device would have been gone, had it not come back; `nil` if it did not have to hurry.
    private(set) var wouldBeGone: Instant?
    private var claims = [Claim(from: Instant(nanoseconds: 0), states: .gone)]
    /// Sessions that their workers still hold, newer ones having taken the device over: should Redis forget that, or
    /// the newer one be lost before it was written, they count again.
    private var older: [Life] = []
    private var mayResurface = false
    /// When an older session last decided something.
    private var olderChanged: Instant?
    private var life: Life?

    /// To be back takes until the new session is written, by two commands.
    private static let margin = Duration.milliseconds(50)

    /// The newest session, while it is connected.
    var connected: EdgeSession? {
        guard let life, life.ends == nil, life.edge.isOpen else { return nil }
        return life.edge
    }

    /// Whether it is for others to find out that the device is gone.
    var isJudged: Bool { life?.isJudged == true }

    /// Whether the newest session began while something was amiss.
    var isUncertain: Bool { life?.isUncertain == true }

    /// Whether something was decided about the device since then, be it by an older session.
    func hasChanged(since moment: Instant, until now: Instant) -> Bool {
        claims.contains { $0.from >= moment && $0.from <= now } || olderChanged.map { $0 >= moment } ?? false
    }

    /// Whether an older session may rightly turn out to be the newer: one that began while something was amiss is as old
    /// as Redis could tell.
    var isContested: Bool { isUncertain || older.contains(where: \.isUncertain) }

    init(_ name: DeviceName) {
        self.name = name
    }

    /// The machine with the worker that answers, or answered last, for the device; none before it ever came.
    var machine: [Weather.Place] { machines.last.map { [$0.place] } ?? [] }

    /// That machine, and those whose workers may still hold older sessions.
    var holders: [Weather.Place] { machine + older.map { .machine($0.edge.worker.place) } }

    /// That machine, and those before it since `earliest`.
    func machines(since earliest: Instant) -> [Weather.Place] {
        let first = machines.lastIndex { $0.from <= earliest } ?? 0
        return machines[first...].map(\.place)
    }

    /// The states in which the device may be shown, to somebody who may be behind by as much as from `earliest` to
    /// `now`.
    func states(since earliest: Instant, until now: Instant) -> StateSet {
        var states: StateSet = []
        for (index, claim) in claims.enumerated() where claim.from <= now {
            let ends = claims.indices.contains(index + 1) ? claims[index + 1].from : nil
            if ends.map({ $0 > earliest }) ?? true { states.formUnion(claim.states) }
        }
        if mayResurface {
            for life in older where life.ends.map({ $0 > earliest }) ?? true { states.formUnion(life.written) }
        }
        return states
    }

    /// How others may have it of older sessions, as long as the end of one may not have come to them.
    ///
    /// - Parameter earliest: how far back they may be of what a worker holds, or of one whose end is for them to find out.
    func resurfacing(since earliest: (SimulatedWorker, _ isJudged: Bool) -> Instant) -> StateSet {
        guard mayResurface else { return [] }
        return older.filter { life in life.ends.map { $0 > earliest(life.edge.worker, life.isJudged) } ?? true }
            .reduce(into: []) { $0.formUnion($1.written) }
    }

    // MARK: What its worker hears

    /// A newer session says hello.
    ///
    /// - Parameters:
    ///   - former: how the device may be shown until that is known.
    ///   - known: up to when everybody knows of an end. A session that ended later may still be shown.
    ///   - isUncertain: whether this hello may never be written.
    func began(
        _ edge: EdgeSession, _ state: DeviceState, after former: StateSet, known: Instant, isUncertain: Bool,
        at now: Instant
    ) {
        mayResurface = mayResurface || isUncertain
        if var life, life.ends.map({ $0 > min(known, now) }) ?? true {
            life.written = former.union(StateSet(life.state)).subtracting(.gone)
            older.append(life)
        }
        life = Life(edge: edge, state: state, written: StateSet(state), isUncertain: isUncertain, ends: nil)
        current = edge
        machines.append((now, .machine(edge.worker.place)))
        let present = claims.lastIndex { $0.from <= now } ?? 0
        wouldBeGone = claims[present...].first { $0.states.contains(.gone) }?.from
        claim(former, from: now)
        if let end = wouldBeGone, end > now, end < now + Self.margin {
            claims.append(Claim(from: now, states: StateSet(state).union(.gone)))
            claims.append(Claim(from: end + Self.margin, states: StateSet(state)))
        } else {
            claims.append(Claim(from: now, states: StateSet(state)))
        }
    }

    func changed(_ edge: EdgeSession, to state: DeviceState, at now: Instant) {
        if current === edge {
            life?.state = state
            claim(StateSet(state), from: now)
        } else if let index = older.firstIndex(where: { $0.edge === edge }) {
            older[index].state = state
            older[index].written.insert(StateSet(state))
            olderChanged = now
        }
    }

    /// A clean end, or one in favour of a newer session.
    func ended(_ edge: EdgeSession, at now: Instant) {
        if current === edge {
            life?.ends = now
            claim(.gone, from: now)
        }
        for index in older.indices where older[index].edge === edge {
            older[index].ends = now
            olderChanged = now
        }
    }

    /// The connection was lost: the device keeps its presence for a while.
    func lost(_ edge: EdgeSession, graceEnds: Instant, at now: Instant) {
        if current === edge, life?.ends == nil, let state = life?.state {
            life?.ends = graceEnds
            claim(StateSet(state), from: now)
            claims.append(Claim(from: graceEnds, states: .gone))
        }
        for index in older.indices where older[index].edge === edge && older[index].ends == nil {
            older[index].ends = graceEnds
            olderChanged = now
        }
    }

    /// The device may count as in one of the states that its session said last, as long as it counts.
    func may(_ rest: [ClientMessage], on edge: EdgeSession, from now: Instant) {
        let states = rest.reduce(into: StateSet()) { states, message in
            if case .state(let state) = message { states.insert(StateSet(state)) }
        }
        guard !states.isEmpty, current === edge, let present = claims.lastIndex(where: { $0.from <= now }) else {
            return
        }
        for index in claims[present...].indices where claims[index].states != .gone {
            claims[index] = Claim(from: claims[index].from, states: claims[index].states.union(states))
        }
    }

    /// Operators end a session. If the device has a newer one, that may not be written yet.
    func sentAway(_ session: SessionID, at now: Instant) {
        guard let connected else { return sentAway(at: now) }
        guard connected.session != session, let last = claims.last, last.from <= now else { return }
        claims.append(Claim(from: now, states: last.states.union(.gone)))
        claims.append(Claim(from: now + Checks.settling, states: last.states))
    }

    /// Operators end what is left of a device that is not connected: before its grace is over, or it is judged.
    func sentAway(at now: Instant) {
        guard connected == nil, let present = claims.lastIndex(where: { $0.from <= now }) else { return }
        let rest = claims[present...].map { Claim(from: max(now, $0.from), states: $0.states.union(.gone)) }
        claims.replaceSubrange((present + 1)..., with: rest)
    }

    // MARK: What befalls its worker

    /// The worker of the device's sessions is gone, by whatever cause.
    ///
    /// - Parameters:
    ///   - unwritten: since when what the worker heard may not have been written.
    ///   - from: from when on others may find out that the device is gone.
    ///   - until: until when they must have.
    func workerGone(
        _ worker: SimulatedWorker, unwritten: Instant, judgedFrom from: Instant, until: Instant, at now: Instant
    ) {
        for index in older.indices where older[index].edge.worker === worker {
            older[index].ends = until
            older[index].isJudged = true
        }
        guard let current, current.worker === worker else { return }
        judge(states(since: unwritten, until: now), judgedFrom: from, until: until, at: now)
    }

    private func judge(_ states: StateSet, judgedFrom from: Instant, until: Instant, at now: Instant) {
        guard states != .gone else { return }
        life?.isJudged = true
        mayResurface = true
        let safe = min(from, life?.ends ?? from)
        claim(states, from: now)
        if safe > now {
            claims.append(Claim(from: safe, states: states.union(.gone)))
        } else {
            claim(states.union(.gone), from: now)
        }
        claims.append(Claim(from: until, states: .gone))
        life?.ends = until
    }

    /// A worker dropped some of its sessions that have no connection: until when it takes to find out that they are gone.
    /// The others stay until their grace is over.
    func dropped(by worker: SimulatedWorker, unwritten: Instant, until: Instant, at now: Instant) {
        for index in older.indices where older[index].edge.worker === worker && !older[index].edge.isOpen {
            older[index].ends = max(older[index].ends ?? until, until)
            older[index].isJudged = true
        }
        guard let current, current.worker === worker, !current.isOpen else { return }
        let until = max(until, life?.ends ?? until)
        judge(states(since: unwritten, until: now), judgedFrom: now, until: until, at: now)
    }

    /// Redis forgot who took over from whom.
    func dataReplaced() {
        mayResurface = true
        // Nobody is left to say it again.
        if isJudged { claims = claims.map { Claim(from: $0.from, states: $0.states.union(.gone)) } }
    }

    /// Takes back what was foreseen from `now` on.
    private func claim(_ states: StateSet, from now: Instant) {
        claims.removeAll { $0.from > now }
        claims.append(Claim(from: now, states: states))
    }
}
