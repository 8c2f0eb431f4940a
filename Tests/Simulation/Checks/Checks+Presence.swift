// What is promised about presence.

internal import RollcallCore
internal import RollcallProtocol

extension Checks {
    /// Checks for missed changes, flaps, and users who are shown present without a device.
    func checkPresence(_ presence: Presence, for edge: EdgeSession) {
        let expectation = expectation(for: edge)
        let allowed = expectation.statuses(of: presence.user)
        guard !allowed.contains(presence.status) else { return }
        let first = edge.view.watched[presence.user]?.firstShown ?? world.agenda.now
        guard !isExcused(presence, expectation, since: first, at: edge.worker) else { return }
        fail(
            "presence",
            "\(edge.name) sees \(presence.user) \(presence.status), who is \(allowed.text): "
                + world.truth.devices(of: presence.user).map { "\($0.name.device) \(expectation.states(of: $0).text)" }
                .joined(separator: ", "))
    }

    /// Checks that nobody is shown whom the observer may not see.
    ///
    /// - Returns: whether what is shown must be true, since the user may be seen.
    func checkMaySee(_ presence: Presence, for edge: EdgeSession) -> Bool {
        let user = presence.user
        guard user != edge.user, !edge.right.covers(user), !edge.view.shares(user) else { return true }
        // Of a conversation that is being joined, or to somebody who is behind, members are shown before their list.
        let mayShare = edge.view.joined.contains {
            $1.withPresence && world.truth.mayShare(user, in: $0, for: edge)
        }
        if !presence.isNeverSeen, !mayShare {
            fail("nobody else may see", "\(edge.name) sees \(user) \(presence.status), with whom it shares nothing")
        }
        return false
    }

    func checkWatched(_ user: UserID, for edge: EdgeSession) {
        guard let watched = edge.view.watched[user] else { return }
        if let shown = watched.shown {
            // What is shown follows soon when somebody may be seen, or no longer.
            if watched.maySee, watched.decided == watched.since { return checkPresence(shown, for: edge) }
            guard watched.decided < askedCalm(for: edge) - Self.lag else { return }
            guard !watched.maySee else { return checkPresence(shown, for: edge) }
            guard !shown.isNeverSeen else { return }
            return fail("nobody else may see", "\(edge.name) still sees \(user) \(shown.status)")
        }
        guard watched.since < askedCalm(for: edge) - Self.lag else { return }
        fail("no missed change", "\(edge.name) watches \(user) since \(watched.since.text) and was shown nothing")
    }

    /// Checks that an older message never overwrites a newer one. Only Redis itself may go back.
    func checkVersion(_ presence: Presence, _ before: View, _ edge: EdgeSession) {
        // Nobody can tell when a user was never seen. Whether that is so, the last seen time says.
        guard presence.version > 0, let watched = before.watched[presence.user], let shown = watched.shown,
            presence.version < shown.version
        else { return }
        // A record that is created again starts with the current clock.
        if world.truth.clockSet != nil, world.truth.everErased.contains(presence.user) { return }
        if let lost = world.truth.dataLost, let last = watched.lastShown, lost > last - .seconds(10) { return }
        fail("stale", "\(edge.name) is told of \(presence.user) at \(presence.version) after \(shown.version)")
    }

    /// Checks that a user's last-seen time never goes back.
    func checkLastSeen(_ presence: Presence, _ before: View, _ edge: EdgeSession) {
        guard world.truth.dataLost == nil, world.truth.clockSet == nil, !world.truth.everErased.contains(presence.user),
            let shown = before.watched[presence.user]?.shown, let last = shown.lastSeen,
            shown.status == .offline, presence.status == .offline, presence.lastSeen.map({ $0 < last }) ?? true
        else { return }
        fail("last seen", "\(edge.name) is told that \(presence.user) was seen earlier than it was told before")
    }

    /// Checks that changes of background devices move nothing that observers are shown.
    func checkBackground(_ presence: Presence, _ edge: EdgeSession) {
        guard world.truth.dataLost == nil, world.truth.clockSet == nil, !world.truth.everErased.contains(presence.user)
        else { return }
        guard presence.status == .offline, presence.lastSeen != nil else { return shownOffline[presence.user] = nil }
        let now = world.agenda.now
        defer { shownOffline[presence.user] = (presence, now) }
        guard let (before, moment) = shownOffline[presence.user], before.lastSeen == presence.lastSeen,
            before.version != presence.version || before.updatedAt != presence.updatedAt
        else { return }
        // After an outage or the death of a worker, records are corrected late.
        let earliest = moment - world.settings.judging
        guard world.weather.isCalm(at: now, settling: now - earliest) else { return }
        // A worker that drops sessions writes the others again, and tells of them as after an outage.
        if let dropped = world.truth.lastDrop, dropped >= earliest { return }
        // A sweep, or a newer session, removes devices that their worker may have held since the start.
        let isSwept = world.truth.lastSweep[presence.user].map { $0 >= earliest } ?? false
        let since = isSwept ? Instant(nanoseconds: 0) : earliest
        let wereAllHidden = world.truth.devices(of: presence.user).allSatisfy { device in
            device.states(since: since, until: now).isSubset(of: [.background, .gone])
        }
        if wereAllHidden {
            fail("background is hidden", "\(edge.name) sees that devices of \(presence.user) came or went")
        }
    }

    /// Returns whether an observer may still be shown what Redis holds. After Redis was away or lost its data, a new
    /// observer is, and stays so while the worker is cut off.
    ///
    /// - Parameter first: when the observer was first shown the user.
    func isExcused(
        _ presence: Presence, _ expectation: Expectation, since first: Instant, at worker: SimulatedWorker
    ) -> Bool {
        let moments = [world.agenda.now, world.calm(at: [.machine(worker.place)])]
        let outages = world.weather.spells.filter { spell in
            spell.place == .redis && moments.contains { spell.lasts(at: $0, and: world.settings.judging) }
        }
        if let lost = world.truth.dataLost, first > lost - Self.lag, !outages.isEmpty { return true }
        guard outages.contains(where: { $0.from - Self.lag < first }) else { return false }
        let states = world.truth.devices(of: presence.user).map { expectation.states(of: $0).union(.gone) }
        return StatusSet(of: states).contains(presence.status)
    }
}
