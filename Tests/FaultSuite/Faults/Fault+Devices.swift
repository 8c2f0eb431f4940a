// Devices that leave, with or without a `goodbye`.

internal import Harness
internal import RollcallClient

extension Fault {
    static let deviceFaults =
        [goodbye, lost(.fin, "FIN"), lost(.reset, "RST"), silent]
        + [back("back on the same worker within grace", on: 0), back("back on another worker within grace", on: 1)]
        + [backJustBefore, backJustAfter, twice, crossing, allCut, allStalled]

    static let goodbye = Fault(.device, "goodbye") { stage in
        let (typist, _) = try await stage.typistAndFriend()
        let gone = try await typist.say(.goodbye)
        stage.typingStops(typist.user, at: gone)
        stage.offline(typist.user, after: gone, within: Promise.changeLimit)
    }

    /// The user goes offline no sooner than at the end of the grace period, and not much later.
    private static func lost(_ how: Roamer.Loss, _ name: String) -> Fault {
        Fault(.device, "connection lost (\(name))") { stage in
            let (typist, _) = try await stage.typistAndFriend()
            let gone = Moment.now
            try await typist.lose(how)
            stage.typingStops(typist.user, at: gone)
            let (user, grace) = (typist.user, stage.settings.grace)
            stage.forbid([.offline], of: user, .steadiness, from: gone, until: gone + grace - .milliseconds(100))
            stage.offline(user, after: gone, within: grace + .seconds(1))
        }
    }

    /// The connection stays open, but the device does not respond.
    private static let silent = Fault(.device, "silent (half-open)") { stage in
        let (typist, signalled) = try await stage.typistAndFriend()
        let gone = Moment.now
        try await typist.lose(.silence)
        stage.typingExpires(typist.user, signalled: signalled)
        // Pings are sent at intervals. The first one may be almost one interval away, and two must go unanswered.
        let found = stage.settings.ping * 3
        stage.offline(typist.user, after: gone, within: found + stage.settings.grace + .seconds(1))
    }

    private static func back(_ name: String, on host: Int) -> Fault {
        Fault(.device, name) { stage in
            let (typist, _) = try await stage.typistAndFriend()
            stage.steady([typist.user])
            let gone = Moment.now
            try await typist.lose(.fin)
            stage.typingStops(typist.user, at: gone)
            try await Task.sleep(until: gone + .milliseconds(.random(in: 0...2000)), clock: .continuous)
            try await typist.come(to: host)
            stage.look(until: gone + stage.settings.grace + .seconds(1))
        }
    }

    private static let backJustBefore = Fault(.device, "back just before grace ends") { stage in
        let (typist, _) = try await stage.typistAndFriend()
        stage.steady([typist.user])
        let gone = Moment.now
        try await typist.lose(.fin)
        let early = Duration.milliseconds(.random(in: 100...300))
        try await Task.sleep(until: gone + stage.settings.grace - early, clock: .continuous)
        try await typist.come(to: .random(in: 0...1))
        stage.look(until: gone + stage.settings.grace + .seconds(1))
    }

    /// Removing the old session must not affect the device's next one.
    private static let backJustAfter = Fault(.device, "back just after grace ended") { stage in
        let (typist, _) = try await stage.typistAndFriend()
        let gone = Moment.now
        try await typist.lose(.fin)
        let late = Duration.milliseconds(.random(in: 0...400))
        try await Task.sleep(until: gone + stage.settings.grace + late, clock: .continuous)
        let back = Moment.now
        try await typist.come(to: .random(in: 0...1))
        stage.converge(typist.user, .online, after: back)
        stage.look(until: back + .seconds(2))
    }

    /// All connections to one worker are cut; the devices reconnect to any worker.
    private static let allCut = Fault(.device, "all connections of one worker cut (RST)") { stage in
        let cast = try await stage.cast()
        try await cast.leaver.behave(.returns)
        stage.steady(cast.steady + [cast.leaver.user])
        stage.gone([0])
        let cut = Moment.now
        try await stage.hosts[0].door?.cut(.reset)
        stage.typingStops(cast.typist.user, at: cut)
        stage.offline(cast.typist.user, after: cut, within: stage.settings.grace + .seconds(1))
    }

    /// For less time than it takes until connections count as lost.
    private static let allStalled = Fault(.device, "all connections of one worker stalled, shortly") { stage in
        let cast = try await stage.cast()
        stage.steady(cast.steady + cast.lost)
        let began = Moment.now
        try await stage.hosts[0].door?.set(.stalled)
        stage.typingExpires(cast.typist.user, signalled: cast.signalled)
        try await Task.sleep(for: stage.settings.ping * 1.5)
        try await stage.hosts[0].door?.set(.clear)
        stage.blind(0, from: began, to: .now)
        stage.look(until: .now + stage.settings.ping * 2)
    }
}

extension Stage {
    /// Connects a user who types on the first host, and a bystander on the last.
    func typistAndFriend() async throws -> (typist: Roamer, signalled: Moment) {
        let friend = try await person("\(Cast.bystander)2")
        try await friend.come(to: 2)
        let typist = try await person("typist", manner: .staysAway)
        try await typist.come(to: 0)
        try await see([.status(friend.user, .online), .status(typist.user, .online)])
        return (typist, try await type(typist))
    }
}
