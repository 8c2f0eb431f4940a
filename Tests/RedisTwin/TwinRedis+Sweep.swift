// What an incarnation answers for, and sweep_claim and sweep_device, which take it over when the incarnation is dead.

public import RollcallModel

extension TwinRedis {
    /// Notes that the incarnation answers for these sessions.
    ///
    /// - Returns: `false` if it is too late, and nothing was noted.
    public mutating func record(_ names: [SessionName], of incarnation: Incarnation, until: Timestamp) -> Bool {
        guard !isTooLate(until) else { return false }
        if !names.isEmpty { sessions[incarnation, default: []].formUnion(names) }
        return true
    }

    /// Strikes these sessions off.
    public mutating func unrecord(_ names: [SessionName], of incarnation: Incarnation) {
        sessions[incarnation]?.subtract(names)
        if sessions[incarnation]?.isEmpty == true { sessions[incarnation] = nil }
    }

    /// Claims what a dead incarnation left, or goes on with one's own claim. Redis picks at random which sessions are
    /// in the batch; the twin takes the first by name, so that a simulation can be had again.
    ///
    /// - Returns: at most `limit` of its sessions; `nil` if another sweeper is at it.
    public mutating func claimSweep(
        of dead: Incarnation, by claimant: Incarnation, limit: Int
    ) -> [SessionName]? {
        let length = Duration.seconds(1)
        if let claim = sweepers[dead]?.read(at: time), claim.holder != claimant,
            claim.since <= time, time.since(claim.since) <= length
        {
            return nil
        }
        let claim = SweepClaim(holder: claimant, since: time)
        sweepers[dead] = Expiring(value: claim, expires: time.advanced(by: length))
        return Array((sessions[dead] ?? []).sorted { $0.order < $1.order }.prefix(limit))
    }

    /// Takes one device of a dead incarnation offline, if it is that incarnation's and that session's still.
    public mutating func sweep(
        _ name: SessionName, of dead: Incarnation, lastBeat: Timestamp?, until: Timestamp
    ) -> SweepOutcome {
        guard !isTooLate(until) else { return .expired }
        guard var device = stored(name.user).devices[name.device], device.state != nil,
            device.incarnation == dead && device.session == name.session
                || planted.contains(.removalWithoutRecheck)
        else { return .kept }
        let seen = seen(device, until: lastBeat.map(notAhead))
        // SESSION and SEQ stay: a worker that was only fenced brings the same session back by its next decision.
        device.state = nil
        device.since = time
        device.lost = device.lost.map(notAhead)
        store(device, as: name, seen: seen)
        return .swept
    }

    /// Takes a batch of a dead incarnation's devices offline, and strikes it off its list.
    ///
    /// - Returns: `false` if it is too late or the incarnation is not dead, and nothing was done.
    public mutating func sweep(_ names: [SessionName], of dead: Incarnation, until: Timestamp) -> Bool {
        let standing = standing(of: dead)
        guard standing.isDead, !isTooLate(until) || names.isEmpty else { return false }
        for name in names { _ = sweep(name, of: dead, lastBeat: standing.beat, until: until) }
        unrecord(names, of: dead)
        return true
    }
}

extension SessionName {
    fileprivate var order: (UserID, DeviceID, String) { (user, device, session.random) }
}
