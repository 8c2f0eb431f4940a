// People who come, go and change while something is out of order: afterwards all of it has to be true.

internal import Harness
internal import RollcallClient

/// Those whose lives go on during an outage.
struct Commuters: Sendable {
    /// Says goodbye.
    let goner: Roamer
    /// Becomes idle.
    let changer: Roamer
    /// Loses its connection and is not back.
    let loser: Roamer
    /// Comes, to this host.
    let newcomer: Roamer
    let arrival: Int

    /// Those who have been there from the start.
    var present: [Roamer] { [goner, changer, loser] }
}

extension Stage {
    /// Brings those who are to be there from the start, and waits until they are seen.
    ///
    /// - Parameter hosts: where the goner, the changer, the loser and the newcomer are.
    func commuters(_ name: String = "", on hosts: [Int] = [0, 1, 1, 2]) async throws -> Commuters {
        let people = Commuters(
            goner: try await person("\(name)goner"), changer: try await person("\(name)changer"),
            loser: try await person("\(name)loser", manner: .staysAway),
            newcomer: try await person("\(name)newcomer"), arrival: hosts[3])
        for (person, host) in zip(people.present, hosts) { try await person.come(to: host) }
        try await see(people.present.map { .status($0.user, .online) })
        return people
    }

    /// They do what they are here for.
    ///
    /// - Returns: when the last of it was done.
    func commute(_ people: Commuters) async throws -> Moment {
        try await people.goner.goodbye()
        try await people.changer.say(.state(.idle))
        try await people.loser.lose(.fin)
        try await people.newcomer.come(to: people.arrival, until: .welcomed)
        return .now
    }

    /// What they did is the truth, `done` being when, from `moment` on.
    func converge(_ people: Commuters, done: Moment, after moment: Moment, until end: Moment? = nil) {
        converge(people.goner.user, .offline, after: moment, until: end)
        converge(people.changer.user, .away, after: moment, until: end)
        converge(people.newcomer.user, .online, after: moment, until: end)
        // The worker counts the grace by itself; its end may come before that of the outage.
        let lost = max(done + settings.grace, moment)
        converge(people.loser.user, .offline, after: lost, until: end)
    }
}
