// Redis loses recent writes: it is killed and restarted with older data.

internal import Harness
internal import RollcallClient
internal import TestSupport

extension Fault {
    /// In the snapshot, a user is online who has left since, and a user is missing who has connected since.
    static let oldSnapshot = Fault(.redis, "killed (-9), back with an old snapshot after 3 s", on: [.server]) { stage in
        try await stage.goBack(by: .seconds(1), away: .seconds(3))
    }

    /// The snapshot has leases of incarnations that have been given up since.
    static let tenSecondsAgo = Fault(
        .mixed, "a primary back with the state of 10 s ago, leases standing", on: [.server],
        equipment: Stage.Equipment(lease: .seconds(15))
    ) { stage in
        try await stage.goBack(by: .seconds(10), away: .zero)
    }

    static let halfHeartbeatAgo = Fault(.mixed, "a primary back with the state of half a heartbeat ago", on: [.server])
    { stage in
        try await stage.goBack(by: stage.settings.heartbeat / 2, away: .zero)
    }
}

extension Stage {
    /// Kills Redis and restarts it with data that it held some time before.
    ///
    /// - Parameters:
    ///   - age: the minimum age of that data.
    ///   - absence: how long Redis is stopped.
    fileprivate func goBack(by age: Duration, away absence: Duration) async throws {
        let before = try await commuters("earlier-", on: [2, 0, 0, 1])
        let snapshot = try await redis.snapshot()
        let taken = Moment.now
        let done = try await commute(before)
        try await see([.status(before.goner.user, .offline), .status(before.newcomer.user, .online)])
        forbid([.online, .away], of: before.goner.user, .order, from: .now, who: .observers)
        try await Task.sleep(until: taken + age, clock: .continuous)
        // Leases in the snapshot may be valid for up to one lease. Until then, reads treat them as valid.
        let outage = Outage(losesData: true, readsAreWrongFor: settings.lease + .seconds(2))
        try await self.outage(outage) {
            try await killRedis()
        } end: { _ in
            try await Task.sleep(for: absence)
            try await startRedis(with: snapshot)
        }
        converge(before, done: done, after: .now)
    }
}
