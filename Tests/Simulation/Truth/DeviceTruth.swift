// The expected state of one device: what its newest session decided, as its worker received it, and what follows when
// the connection or the worker is gone.

internal import RollcallCore
internal import RollcallProtocol

/// The history of a device.
final class DeviceTruth {
    /// The states in which the device may be shown from a moment on.
    struct Claim {
        let from: Instant
        let states: StateSet
    }

    /// A session, from its `hello` until nothing of it can be seen any more.
    struct Life {
        let edge: EdgeSession
        var state: DeviceState
        /// The states that Redis may have stored.
        var written: StateSet
        /// Whether its `hello` may have been written late or never.
        var isUncertain: Bool
        /// Until when it counts in any case; `nil` while it is connected.
        var ends: Instant?
        /// Whether its worker is gone, so that other workers have to detect its end.
        var isJudged = false
    }

    let name: DeviceName
    var typing: [ConversationID: TypingTruth] = [:]
    /// The session whose `hello` was received last.
    private(set) var current: EdgeSession?
    /// The machine of the device's worker from each moment on.
    private var machines: [(from: Instant, place: Weather.Place)] = []
    /// When the device would have gone offline without reconnecting; `nil` if it would not have.
    private(set) var wouldBeGone: Instant?
    private var claims = [Claim(from: Instant(nanoseconds: 0), states: .gone)]
    /// Sessions that were replaced by newer ones but are still held by their workers. If Redis loses the replacement,
    /// or the newer session is lost before it was written, they count again.
    private var older: [Life] = []
    private var mayResurface = false
    /// When an older session last changed anything.
    private var olderChanged: Instant?
    /// When it last showed a fresh token, which may say another name.
    var showedToken: Instant?
    private var life: Life?
    /// The states that a session left when its worker died.
    private var left: StateSet = []
    /// When operators last ended a connected session.
    private var lastSentAway: Instant?

    /// Reconnecting takes two commands until the new session is written.
    private static let margin = Duration.milliseconds(50)

    /// The newest session, while it is connected.
    var connected: EdgeSession? {
        guard let life, life.ends == nil, life.edge.isOpen else { return nil }
        return life.edge
    }

    /// Whether other workers have to detect that the device is gone.
    var isJudged: Bool { life?.isJudged == true }

    /// Whether the newest session began during an outage.
    var isUncertain: Bool { life?.isUncertain == true }

    /// Returns whether the device was written since then, because its state changed, even by an older session, or its user's name.
    func hasChanged(since moment: Instant, until now: Instant) -> Bool {
        claims.contains { $0.from >= moment && $0.from <= now }
            || [olderChanged, showedToken].contains { $0.map { $0 >= moment } ?? false }
    }

    /// Whether an older session may turn out to be the newer one: a session that began during an outage has the age
    /// that Redis could determine.
    var isContested: Bool { isUncertain || older.contains(where: \.isUncertain) }

    init(_ name: DeviceName) {
        self.name = name
    }

    /// The machine of the worker that the device is or was last connected to; empty before its first connection.
    var machine: [Weather.Place] { machines.last.map { [$0.place] } ?? [] }

    /// That machine, and those whose workers may still hold older sessions.
    var holders: [Weather.Place] { machine + older.map { .machine($0.edge.worker.place) } }

    /// Returns that machine and the earlier ones since `earliest`.
    func machines(since earliest: Instant) -> [Weather.Place] {
        let first = machines.lastIndex { $0.from <= earliest } ?? 0
        return machines[first...].map(\.place)
    }

    /// Returns the states in which an observer may see the device whose knowledge may date from any time between
    /// `earliest` and `now`.
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

    /// Returns the states that a session left in Redis when its worker died, until it is swept or a newer one, which began
    /// since then, is written. They count for a worker that judges nobody after an outage.
    func leftBehind(since moment: Instant) -> StateSet {
        isJudged || machines.last.map { $0.from >= moment } == true ? left : []
    }

    /// Returns the states in which observers may see the device because of older sessions, until they must know that
    /// those ended.
    ///
    /// - Parameter earliest: how old an observer's knowledge may be of a session that a worker holds, or of one whose
    ///   end others have to detect.
    func resurfacing(since earliest: (SimulatedWorker, _ isJudged: Bool) -> Instant) -> StateSet {
        guard mayResurface else { return [] }
        return older.filter { life in life.ends.map { $0 > earliest(life.edge.worker, life.isJudged) } ?? true }
            .reduce(into: []) { $0.formUnion($1.written) }
    }

    // MARK: Messages to its worker

    /// A newer session says `hello`.
    ///
    /// - Parameters:
    ///   - former: how the device may be shown until the `hello` is known.
    ///   - known: all observers know of ends before this time. A session that ended later may still be shown.
    ///   - isUncertain: whether this `hello` may never be written.
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
        if let lastSentAway, now < lastSentAway + Checks.lag {
            // The end of the session before may reach Redis before this `hello`.
            claims.append(Claim(from: now, states: StateSet(state).union(.gone)))
            claims.append(Claim(from: now + Checks.lag, states: StateSet(state)))
        } else if let end = wouldBeGone, end > now, end < now + Self.margin {
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

    /// The session said goodbye. If a newer one began just before, the goodbye may reach Redis before that `hello`.
    func saidGoodbye(_ edge: EdgeSession, at now: Instant) {
        if current !== edge, let began = machines.last?.from, now < began + Checks.lag, let last = claims.last,
            last.from <= now
        {
            claims.append(Claim(from: now, states: last.states.union(.gone)))
            claims.append(Claim(from: now + Checks.lag, states: last.states))
        }
        ended(edge, at: now)
    }

    /// The session ended cleanly, or was replaced by a newer one.
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

    /// The session was refused, and may never have replaced an older one. One that is still connected is the newest
    /// again: a worker that stalled answers a `hello` after the device has connected elsewhere.
    func refused(_ edge: EdgeSession, at now: Instant) {
        ended(edge, at: now)
        dataReplaced()
        guard current === edge, let index = older.lastIndex(where: { $0.ends == nil && $0.edge.isOpen }) else { return }
        var life = older.remove(at: index)
        claims.append(Claim(from: now, states: life.written.union(StateSet(life.state)).union(.gone)))
        claims.append(Claim(from: now + Checks.settling, states: StateSet(life.state)))
        life.isUncertain = true
        current = life.edge
        machines.append((now, .machine(life.edge.worker.place)))
        self.life = life
    }

    /// The connection was lost: the device keeps its presence for the grace period.
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

    /// The device may have any of the states that its session sent last, while it counts.
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

    /// Operators end a session. If the device has a newer one, it may not be written yet.
    func sentAway(_ session: SessionID, at now: Instant) {
        guard let connected else { return sentAway(at: now) }
        guard connected.session != session else {
            lastSentAway = now
            return
        }
        guard let last = claims.last, last.from <= now else { return }
        claims.append(Claim(from: now, states: last.states.union(.gone)))
        claims.append(Claim(from: now + Checks.settling, states: last.states))
    }

    /// Operators end what is left of a disconnected device: before its grace period ends, or before others detect its
    /// end.
    func sentAway(at now: Instant) {
        guard connected == nil, let present = claims.lastIndex(where: { $0.from <= now }) else { return }
        let rest = claims[present...].map { Claim(from: max(now, $0.from), states: $0.states.union(.gone)) }
        claims.replaceSubrange((present + 1)..., with: rest)
    }

    // MARK: Faults of its worker

    /// The worker of the device's sessions is gone, for any reason.
    ///
    /// - Parameters:
    ///   - unwritten: what the worker received since then may not have been written.
    ///   - from: from when on others may detect that the device is gone.
    ///   - until: until when they must have detected it.
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
        left = states
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

    /// A worker dropped some of its disconnected sessions. `until` is when their end must be detected; those that were
    /// not dropped stay until their grace period ends.
    func dropped(by worker: SimulatedWorker, unwritten: Instant, until: Instant, at now: Instant) {
        for index in older.indices where older[index].edge.worker === worker && !older[index].edge.isOpen {
            older[index].ends = max(older[index].ends ?? until, until)
            older[index].isJudged = true
        }
        guard let current, current.worker === worker, !current.isOpen else { return }
        let until = max(until, life?.ends ?? until)
        judge(states(since: unwritten, until: now), judgedFrom: now, until: until, at: now)
    }

    /// Redis lost which sessions replaced which.
    func dataReplaced() {
        mayResurface = true
        // No worker is left that could write it again.
        if isJudged { claims = claims.map { Claim(from: $0.from, states: $0.states.union(.gone)) } }
    }

    /// Replaces all claims after `now`.
    private func claim(_ states: StateSet, from now: Instant) {
        claims.removeAll { $0.from > now }
        claims.append(Claim(from: now, states: states))
    }
}
