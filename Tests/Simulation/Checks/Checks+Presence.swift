// What is promised of presence.

internal import RollcallCore
internal import RollcallModel

extension Checks {
    /// Online if any device is; no ghosts; no flapping; no missed change.
    func checkPresence(_ presence: Presence, for edge: EdgeSession) {
        let watched = edge.view.watched[presence.user]
        guard let allowed = statuses(of: presence.user, for: edge, since: watched?.firstShown ?? world.agenda.now)
        else { return }
        guard !allowed.contains(presence.status) else { return }
        fail(
            "presence",
            "\(edge.name) sees \(presence.user) \(presence.status), who is \(allowed.text): "
                + world.truth.devices(of: presence.user).map { "\($0.0) \($0.1.text(at: world.agenda.now))" }
                .joined(separator: ", "))
    }

    func checkWatched(_ user: UserID, for edge: EdgeSession) {
        guard let watched = edge.view.watched[user] else { return }
        if let shown = watched.shown { return checkPresence(shown, for: edge) }
        guard watched.since < world.calm(at: edge.places) - Self.lag else { return }
        fail("no missed change", "\(edge.name) watches \(user) since \(watched.since.text) and was shown nothing")
    }

    /// A stale message never overwrites a newer one. Only Redis can go back.
    func checkVersion(_ presence: Presence, _ before: View, _ edge: EdgeSession) {
        guard let watched = before.watched[presence.user], let shown = watched.shown,
            presence.version < shown.version
        else { return }
        if let lost = world.truth.dataLost, let last = watched.lastShown, lost > last - .seconds(10) { return }
        fail("stale", "\(edge.name) is told of \(presence.user) at \(presence.version) after \(shown.version)")
    }

    /// What an observer may rightly be shown.
    ///
    /// - Parameter first: when it was first shown the user. Over a Redis that was away or lost its data, one who has
    ///   just come is shown what Redis holds.
    /// - Returns: `nil` if that may be anything.
    private func statuses(of user: UserID, for edge: EdgeSession, since first: Instant) -> StatusSet? {
        let now = world.agenda.now
        if let lost = world.truth.dataLost, first > lost - Self.lag,
            world.weather.isUnsettled(at: now, by: [.redis], settling: judging)
        {
            return nil
        }
        let mayMissSome = world.weather.spells.contains {
            $0.place == .redis && $0.from - Self.lag < first && $0.lasts(at: now, and: judging)
        }
        return StatusSet(
            of: world.truth.devices(of: user).map { _, device in
                states(of: device, for: edge).union(mayMissSome ? .gone : [])
            })
    }

    private var judging: Duration { world.settings.lease + Self.settling }

    private func states(of device: DeviceTruth, for edge: EdgeSession) -> StateSet {
        let now = world.agenda.now
        let machine = device.machine.map { [Weather.Place.machine($0)] } ?? []
        let settling = device.isJudged ? judging : Self.settling
        let calm = world.weather.calm(before: now, at: edge.places + machine, settling: settling)
        var states = device.states(since: calm - Self.lag, until: now)
        if isCutOff(at: machine) { states.insert(.gone) }
        if let wouldBeGone = device.wouldBeGone, wouldBeGone <= now, world.isUnsettled(at: machine + [.redis]) {
            states.insert(.gone)
        }
        return states
    }

    /// Whether a machine has been in trouble for long enough that its worker's lease may have passed.
    private func isCutOff(at machine: [Weather.Place]) -> Bool {
        let now = world.agenda.now
        return now - world.weather.calm(before: now, at: machine, settling: Self.settling) >= .milliseconds(2500)
    }
}

extension EdgeSession {
    /// Where an outage can keep news from its observer.
    var places: [Weather.Place] { [.redis, .machine(worker.place)] }
}
