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

    /// Stores an entry in the incarnation's list.
    ///
    /// - Returns: `false` if the deadline has passed and nothing was stored.
    public mutating func record(_ entry: EntryName, of incarnation: Incarnation, until: Timestamp) -> Bool {
        guard !isTooLate(until) else { return false }
        entries[incarnation, default: []].insert(entry)
        return true
    }

    /// Removes these items from the incarnation's lists.
    public mutating func unrecord(_ items: [ListItem], of incarnation: Incarnation) {
        for item in items {
            switch item {
            case .session(let name): sessions[incarnation]?.remove(name)
            case .entry(let entry):
                let left = entries[incarnation]?.filter { other in
                    other != entry
                        && !(planted.contains(.unlistsOthers) && other.conversation == entry.conversation
                            && other.session.device == entry.session.device)
                }
                entries[incarnation] = left
            }
        }
        if sessions[incarnation]?.isEmpty == true { sessions[incarnation] = nil }
        if entries[incarnation]?.isEmpty == true { entries[incarnation] = nil }
    }

    /// Claims what a dead incarnation holds, or continues one's own claim. Redis picks the batch at random; the twin
    /// takes the first by name, so that simulations are reproducible.
    ///
    /// - Returns: At most `limit` of its sessions, and of its entries; `nil` if another sweeper has the claim.
    public mutating func claimSweep(of dead: Incarnation, by claimant: Incarnation, limit: Int) -> [ListItem]? {
        let length = Duration.seconds(1)
        if let claim = sweepers[dead]?.read(at: time), claim.holder != claimant,
            claim.since <= time, time.since(claim.since) <= length
        {
            return nil
        }
        let claim = SweepClaim(holder: claimant, since: time)
        sweepers[dead] = Expiring(value: claim, expires: time.advanced(by: length))
        return (sessions[dead] ?? []).sorted { $0.order < $1.order }.prefix(limit).map { .session($0) }
            + (entries[dead] ?? []).sorted { $0.order < $1.order }.prefix(limit).map { .entry($0) }
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

    /// Removes a line of a dead incarnation if it is still that incarnation's.
    public mutating func sweep(_ entry: EntryName, of dead: Incarnation, until: Timestamp) -> SweepOutcome {
        guard !isTooLate(until) else { return .expired }
        let lines = here[entry.conversation]?[entry.session.user]?.lines ?? []
        let own = lines.first { $0.session == entry.session.session }
        if let own, own.incarnation != dead { return .kept }
        change(lines.filter { $0 != own }, of: entry.session.user, in: entry.conversation)
        return .swept
    }

    /// Removes a batch of what a dead incarnation holds, and then the items from its lists.
    ///
    /// - Returns: `false` if the deadline has passed or the incarnation is not dead, and nothing was done.
    public mutating func sweep(_ items: [ListItem], of dead: Incarnation, until: Timestamp) -> Bool {
        let standing = standing(of: dead)
        guard standing.isDead, !isTooLate(until) || items.isEmpty else { return false }
        for item in items {
            switch item {
            case .session(let name): _ = sweep(name, of: dead, lastBeat: standing.beat, until: until)
            case .entry(let entry): _ = sweep(entry, of: dead, until: until)
            }
        }
        unrecord(items, of: dead)
        return true
    }
}

extension SessionName {
    fileprivate var order: (UserID, DeviceID, ByteString) { (user, device, session.random) }
}

extension EntryName {
    fileprivate var order: (UserID, DeviceID, ByteString, ConversationID) {
        (session.user, session.device, session.session.random, conversation)
    }
}
