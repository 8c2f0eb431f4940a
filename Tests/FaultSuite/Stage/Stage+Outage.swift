// The story of every outage of Redis.

internal import Harness
internal import RollcallClient

/// What is special about an outage of Redis.
struct Outage: Sendable {
    /// Whether Redis loses what it held.
    var losesData = false
    /// Whether what is decided meanwhile takes effect at once.
    var isWritable = false
    /// For how long after its end reads may tell what Redis remembers rather than what is.
    var readsAreWrongFor = Promise.convergenceLimit
}

extension Stage {
    /// An outage of Redis for all hosts, in which nobody who is there disappears, and after which what happened
    /// meanwhile is true.
    ///
    /// - Parameters:
    ///   - begin: begins it; what it returns is handed to `end`.
    ///   - end: waits as long as it lasts, and ends it.
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
        unreadable(from: began, to: ended + outage.readsAreWrongFor)
        converge(people, done: done, after: outage.isWritable ? done : ended)
        for user in there { converge(user, .online, after: ended) }
        look(until: ended + settings.lease + .seconds(2))
    }

    /// Ends Redis as a crash would. Nobody is led to its port any more, which may be another program's soon.
    func killRedis() async throws {
        for host in hosts { try await host.toRedis.aim(at: nil) }
        try await redis.kill()
    }

    /// Starts a Redis again, and leads all ways to it.
    func startRedis(with snapshot: RedisControl.Snapshot? = nil) async throws {
        let port = try await redis.start(with: snapshot)
        for host in hosts { try await host.toRedis.aim(at: port) }
    }
}
