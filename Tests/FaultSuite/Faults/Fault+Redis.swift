// A Redis that goes, forgets, or does not answer.

internal import Harness
internal import RollcallClient

extension Fault {
    static let redisFaults = [killedAndEmpty]

    private static let killedAndEmpty = Fault(.redis, "killed (-9), back empty after 10 s") { stage in
        try await stage.outage { stage in
            stage.dataIsLost()
            try await stage.redis.kill()
            return {
                try await Task.sleep(for: .seconds(10))
                try await stage.startRedis()
            }
        }
    }
}

extension Stage {
    /// Starts a Redis again, and leads all ways to it.
    func startRedis(with snapshot: RedisControl.Snapshot? = nil) async throws {
        let port = try await redis.start(with: snapshot)
        for host in hosts { try await host.toRedis.aim(at: port) }
    }

    /// An outage of Redis for all hosts, in which people come, go and change.
    ///
    /// - Parameter begin: begins it; what it returns ends it.
    func outage(_ begin: (Stage) async throws -> () async throws -> Void) async throws {
        let cast = try await cast()
        let (goner, changer, newcomer) = (
            try await person("goner"), try await person("changer"), try await person("newcomer")
        )
        for (number, device) in [goner, changer].enumerated() { try await device.come(to: number) }
        try await see([goner, changer].map { .status($0.user, .online) })
        steady(cast.steady + cast.lost, who: .observers)
        let began = Moment.now
        let end = try await begin(self)
        typingExpires(cast.typist.user, signalled: cast.signalled)
        try await newcomer.come(to: 2, until: .welcomed)
        try await changer.say(.state(.idle))
        try await goner.goodbye()
        try await end()
        let ended = Moment.now
        unreadable(from: began, to: ended + Promise.convergenceLimit)
        converge(goner.user, .offline, after: ended)
        converge(changer.user, .away, after: ended)
        for user in cast.steady + cast.lost + [newcomer.user] { converge(user, .online, after: ended) }
        look(until: ended + settings.lease + .seconds(2))
    }
}
