// The common course of all Redis outages.

internal import Harness
internal import NIOConcurrencyHelpers
internal import RollcallClient

/// How an outage of Redis differs from others.
struct Outage: Sendable {
    /// Whether Redis loses its data.
    var losesData = false
    /// Whether Redis has no memory left: changes take effect at once, but nobody begins to be in the room.
    var isFull = false
    /// For how long after its end reads may return what Redis stored instead of the current state.
    var readsAreWrongFor = Promise.convergenceLimit
    /// Whether a goodbye may be acknowledged by a primary that is replaced already. The next sweep takes the device offline.
    var mayLoseGoodbye = false
}

extension Stage {
    /// Runs an outage of Redis for all hosts. Users who stay connected must not disappear, and all changes made during
    /// the outage must be visible afterwards.
    ///
    /// - Parameters:
    ///   - begin: begins the outage. Its result is passed to `end`.
    ///   - end: waits for the duration of the outage, and ends it.
    func outage<Handle>(
        _ outage: Outage = Outage(), begin: () async throws -> Handle, end: (Handle) async throws -> Void
    ) async throws {
        let cast = try await cast()
        let people = try await commuters()
        if outage.losesData { dataIsLost() }
        let there = cast.steady + cast.lost
        steady(there + [people.changer.user], who: .observers)
        let began = Moment.now
        let handle = try await begin()
        typingExpires(cast.typist.user, signalled: cast.signalled)
        let done = try await commute(people)
        try await end(handle)
        let ended = Moment.now
        if outage.isFull { state.withLockedValue { $0.plan.full.append(began..<ended) } }
        unreadable(from: began, to: ended + outage.readsAreWrongFor)
        converge(
            people, done: done, after: outage.isFull ? done : ended,
            goodbyesAfter: outage.mayLoseGoodbye ? ended + settings.lease : nil)
        for user in there { converge(user, .online, after: ended) }
        look(until: ended + settings.lease + .seconds(2))
    }

    func everyWay(_ body: (Ways) async throws -> Void) async throws {
        for host in hosts { try await body(host.toRedis) }
    }

    /// Kills Redis as a crash would. Proxies stop forwarding to its port, which another program may soon use.
    func killRedis() async throws {
        try await everyWay { try await $0.aim(at: nil) }
        try await redis.kill()
    }

    /// Restarts Redis, and lets all proxies forward to it.
    func startRedis(with snapshot: RedisControl.Snapshot? = nil) async throws {
        let port = try await redis.start(with: snapshot)
        try await everyWay { try await $0.aim(at: port) }
    }
}
