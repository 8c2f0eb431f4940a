// The common course of all faults between one worker and Redis.

internal import Harness
internal import RollcallClient

/// How a partition differs from others.
struct Partition: Sendable {
    /// The affected connections.
    var traffic: Traffic
    var lasts: Duration
    /// Whether the first host's worker is cut off meanwhile, not just slowed down.
    var isDeaf = true

    /// Returns whether the worker's lease expires in the meantime.
    func fences(_ settings: Settings) -> Bool {
        isDeaf && traffic.contains(.commands) && lasts > settings.lease
    }
}

extension Stage {
    /// Runs a fault between the first host and Redis while users on either side connect, leave and change. Devices on
    /// the first host never lose their connections.
    func partition(
        _ partition: Partition, begin: (Ways) async throws -> Void, end: (Ways) async throws -> Void
    ) async throws {
        let cast = try await cast()
        let here = try await commuters("here-", on: [0, 0, 0, 0])
        let there = try await commuters("there-", on: [1, 2, 2, 1])
        let isFenced = partition.fences(settings)
        let cutOff = cast.lost + [cast.bystanders[0].user]
        steady(cast.bystanders.dropFirst().map(\.user) + [cast.twin, there.changer.user])
        if !isFenced { steady(cutOff + [here.changer.user]) }

        let ways = hosts[0].toRedis
        let began = Moment.now
        try await begin(ways)
        typingExpires(cast.typist.user, signalled: cast.signalled)
        let (doneHere, doneThere) = (try await commute(here), try await commute(there))
        try await Task.sleep(until: began + partition.lasts, clock: .continuous)
        try await end(ways)
        let ended = Moment.now

        if partition.isDeaf { blind(0, from: began, to: ended) } else { unsettled(0, from: began, to: ended) }
        if isFenced { dead(cutOff + [here.changer.user], since: began, until: ended) }
        let canSpeak = !partition.isDeaf || !partition.traffic.contains(.commands)
        converge(here, done: doneHere, after: canSpeak ? doneHere : ended)
        converge(there, done: doneThere, after: doneThere)
        for user in cutOff { converge(user, .online, after: ended) }
        look(until: ended + settings.lease + .seconds(2))
    }
}
