// The sessions of an incarnation, and the scripts sweep_claim and sweep_device, which take them offline once it is
// dead.

public import RollcallProtocol

extension TwinRedis {
    /// Stores these sessions in the incarnation's list.
    ///
    /// - Returns: `false` if the deadline has passed and nothing was stored.
    public mutating func record(_ names: [SessionName], of incarnation: Incarnation, until: Timestamp) -> Bool {
        guard !isTooLate(until) else { return false }
        if !names.isEmpty { sessions[incarnation, default: []].formUnion(names) }
        return true
    }

    /// Removes these sessions from the list.
    public mutating func unrecord(_ names: [SessionName], of incarnation: Incarnation) {
        sessions[incarnation]?.subtract(names)
        if sessions[incarnation]?.isEmpty == true { sessions[incarnation] = nil }
    }

    /// Claims a dead incarnation's sessions, or continues one's own claim. Redis picks the batch at random; the twin
    /// takes the first by name, so that simulations are reproducible.
    ///
    /// - Returns: At most `limit` of its sessions; `nil` if another sweeper has the claim.
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

    /// Takes one device of a dead incarnation offline, if it still belongs to that incarnation and session.
    public mutating func sweep(
        _ name: SessionName, of dead: Incarnation, lastBeat: Timestamp?, until: Timestamp
    ) -> SweepOutcome {
        guard !isTooLate(until) else { return .expired }
        guard var device = stored(name.user).devices[name.device], device.state != nil,
            device.incarnation == dead && device.session == name.session
                || planted.contains(.removalWithoutRecheck)
        else { return .kept }
        let seen = seen(device, until: lastBeat.map(notAhead))
        // SESSION and SEQ stay: a worker that was only fenced restores the same session with its next decision.
        device.state = nil
        device.since = time
        device.lost = device.lost.map(notAhead)
        store(device, as: name, seen: seen, isSilent: planted.contains(.sweepsSilently))
        return .swept
    }

    /// Takes a batch of a dead incarnation's devices offline, and removes it from the list.
    ///
    /// - Returns: `false` if the deadline has passed or the incarnation is not dead, and nothing was done.
    public mutating func sweep(_ names: [SessionName], of dead: Incarnation, until: Timestamp) -> Bool {
        let standing = standing(of: dead)
        guard standing.isDead, !isTooLate(until) || names.isEmpty else { return false }
        for name in names { _ = sweep(name, of: dead, lastBeat: standing.beat, until: until) }
        unrecord(names, of: dead)
        return true
    }
}

extension SessionName {
    fileprivate var order: (UserID, DeviceID, ByteString) { (user, device, session.random) }
}
