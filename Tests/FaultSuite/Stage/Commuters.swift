// Users who connect, leave and change during a fault. All of these changes must be visible afterwards.

internal import Harness
internal import RollcallClient

/// Users whose state changes during an outage.
struct Commuters: Sendable {
    /// Sends `goodbye`.
    let goner: Roamer
    /// Becomes idle.
    let changer: Roamer
    /// Loses its connection and does not reconnect.
    let loser: Roamer
    /// Connects to the host ``arrival``.
    let newcomer: Roamer
    let arrival: Int

    /// The users who are connected from the start.
    var present: [Roamer] { [goner, changer, loser] }
}

extension Stage {
    /// Connects the users who are present from the start, and waits until observers see them.
    ///
    /// - Parameter hosts: the hosts of the goner, the changer, the loser and the newcomer.
    func commuters(_ name: String = "", on hosts: [Int] = [0, 1, 1, 2]) async throws -> Commuters {
        let people = Commuters(
            goner: try await person("\(name)goner"), changer: try await person("\(name)changer"),
            loser: try await person("\(name)loser", manner: .staysAway),
            newcomer: try await person("\(name)newcomer"), arrival: hosts[3])
        for (person, host) in zip(people.present, hosts) { try await person.come(to: host) }
        try await see(people.present.map { .status($0.user, .online) })
        return people
    }

    /// Lets each of them do its change.
    ///
    /// - Returns: when the last change was made.
    func commute(_ people: Commuters) async throws -> Moment {
        try await people.goner.goodbye()
        try await people.changer.say(.state(.idle))
        try await people.loser.lose(.fin)
        try await people.newcomer.come(to: people.arrival, until: .welcomed)
        return .now
    }

    /// Expects these changes, made at `done`, to be visible from `moment` on.
    func converge(
        _ people: Commuters, done: Moment, after moment: Moment, until end: Moment? = nil, goodbyesAfter: Moment? = nil
    ) {
        converge(people.goner.user, .offline, after: goodbyesAfter ?? moment, until: end)
        converge(people.changer.user, .away, after: moment, until: end)
        converge(people.newcomer.user, .online, after: moment, until: end)
        // The worker measures the grace period itself, which may end before the outage does.
        let lost = max(done + settings.grace, moment)
        converge(people.loser.user, .offline, after: lost, until: end)
    }
}
