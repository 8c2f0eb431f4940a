// Those to whom a fault of the first host happens, and those whom it should not touch.

internal import Harness
internal import RollcallClient

/// The usual people of a stage.
struct Cast: Sendable {
    static let bystander = "bystander"

    /// One on each host; who is on the first comes back elsewhere.
    let bystanders: [Roamer]
    /// On the first host, and gone with it.
    let leaver: Roamer
    /// As the leaver, and typing.
    let typist: Roamer
    /// The user of a phone on the first host, which goes with it, and of a laptop on the last.
    let twin: UserID
    /// When the typist last signalled.
    let signalled: Moment

    /// Everybody whom the end of the first host should not take offline.
    var steady: [UserID] { bystanders.map(\.user) + [twin] }
    /// Everybody who goes with the first host.
    var lost: [UserID] { [leaver.user, typist.user] }
}

extension Stage {
    /// Brings the usual people, and waits until everybody is seen.
    func cast() async throws -> Cast {
        var bystanders: [Roamer] = []
        for host in hosts {
            let bystander = try await person("\(Cast.bystander)\(host.number)")
            try await bystander.come(to: host.number)
            try await bystander.ask(.join(room, presence: false))
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

    /// Types, and waits until everybody sees it.
    ///
    /// - Returns: when the signal was sent.
    func type(_ typist: Roamer) async throws -> Moment {
        try await typist.ask(.join(room, presence: false))
        let moment = try await typist.say(.typing(room, true))
        try await see([.types(typist.user, in: room)])
        return moment
    }
}
