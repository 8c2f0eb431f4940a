// A network partition with a primary and one worker on one side and everything else on the other side, where another
// primary is promoted.

internal import Harness
internal import RollcallClient

extension Stage {
    /// Splits the network: the first host is alone with a primary that the other side has replaced. The other side
    /// works normally. What the first host and its users wrote meanwhile is discarded when the partition heals.
    ///
    /// - Parameters:
    ///   - begin: splits the network.
    ///   - promoted: waits for the other primary.
    ///   - end: heals the network, and waits until the first primary knows of the other.
    func split(
        begin: () async throws -> Void, promoted: () async throws -> Void, end: () async throws -> Void
    ) async throws {
        let cast = try await cast()
        let here = try await commuters("here-", on: [0, 0, 0, 0])
        let there = try await commuters("there-", on: [1, 2, 2, 1])
        let cutOff = cast.lost + [cast.bystanders[0].user, here.changer.user]
        dataIsLost()
        steady(cast.bystanders.dropFirst().map(\.user) + [cast.twin, there.changer.user], who: .others(than: 0))
        let began = Moment.now
        try await begin()
        typingExpires(cast.typist.user, signalled: cast.signalled)
        let (doneHere, doneThere) = (try await commute(here), try await commute(there))
        try await promoted()
        let promotion = Moment.now
        let span = settings.lease + .seconds(2)
        try await Task.sleep(until: promotion + span + .seconds(3), clock: .continuous)
        let healing = Moment.now
        try await end()
        let ended = Moment.now

        blind(0, from: began, to: ended)
        // The new primary treats the leases that it has as valid until they expire.
        unreadable(from: began, to: promotion + span)
        unreadable(from: ended, to: ended + Promise.convergenceLimit)
        for user in cutOff { offline(user, after: promotion, within: span, until: healing) }
        converge(there, done: doneThere, after: max(doneThere, promotion))
        converge(here, done: doneHere, after: ended)
        for user in cutOff.dropLast() { converge(user, .online, after: ended) }
        look(until: ended + settings.lease + .seconds(2))
    }
}
