// The users that a fault of the first host affects, and those that it should not.

internal import Harness
internal import RollcallClient

/// The users of most faults.
struct Cast: Sendable {
    static let bystander = "bystander"

    /// One on each host. The one on the first host reconnects elsewhere.
    let bystanders: [Roamer]
    /// On the first host; does not reconnect.
    let leaver: Roamer
    /// Like the leaver, and typing.
    let typist: Roamer
    /// A user with a phone on the first host, which does not reconnect, and a laptop on the last.
    let twin: UserID
    /// When the typist last sent a typing signal.
    let signalled: Moment

    /// The users whom a fault of the first host should not take offline.
    var steady: [UserID] { bystanders.map(\.user) + [twin] }
    /// The users who go offline with the first host.
    var lost: [UserID] { [leaver.user, typist.user] }
}

extension Stage {
    /// Connects these users, and waits until all observers see them.
    func cast() async throws -> Cast {
        var bystanders: [Roamer] = []
        for host in hosts {
            let bystander = try await person("\(Cast.bystander)\(host.number)")
            try await bystander.come(to: host.number)
            bystanders.append(bystander)
        }
        let leaver = try await person("leaver", manner: .staysAway)
        let typist = try await person("typist", manner: .staysAway)
        let phone = try await person("twin", manner: .staysAway)
        let laptop = try await person("twin", "laptop")
        for device in [leaver, typist, phone] { try await device.come(to: 0) }
        try await laptop.come(to: hosts.count - 1)
        try await see((bystanders + [leaver, typist, phone]).map { .status($0.user, .online) })
        let signalled = try await type(typist)
        return Cast(
            bystanders: bystanders, leaver: leaver, typist: typist, twin: phone.user, signalled: signalled)
    }

    /// Starts typing, and waits until all observers see it.
    ///
    /// - Returns: when the signal was sent.
    func type(_ typist: Roamer) async throws -> Moment {
        let moment = try await typist.say(.typing(room, true))
        try await see([.types(typist.user, in: room)])
        return moment
    }
}
