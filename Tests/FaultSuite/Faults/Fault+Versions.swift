// Workers of different versions, and workers whose clocks differ.

internal import Foundation
internal import Harness
internal import RollcallClient

extension Fault {
    /// A worker of a later version, simulated by what it writes to Redis: its records have unknown fields and values.
    static let newerWorker = Fault(.mixed, "a newer worker on the same Redis") { stage in
        let phone = try await stage.person("future", visits: false)
        let friend = try await stage.person("\(Cast.bystander)2")
        try await friend.come(to: 2)
        let newer = try await NewerWorker(stage.redis, lease: .seconds(8))
        let came = try await newer.deviceComes()
        stage.expect(
            .status(phone.user, .online), .change, since: came, within: .seconds(1), until: newer.ends.lowerBound)
        try await stage.see([.status(phone.user, .online)])
        try await newer.notify(stage.hosts[0].worker.incarnation)
        let typed = try await newer.types(in: stage.room.text)
        try await stage.see([.types(phone.user, in: stage.room)])
        stage.typingExpires(phone.user, signalled: typed)

        // A device of the same user connects to and leaves a current worker, which must keep the fields that it does
        // not know.
        try await phone.come(to: 0)
        try await phone.ask(.state(.idle))
        try await phone.goodbye()
        try await stage.see([.typesNot(phone.user, in: stage.room)])
        stage.check("the unknown fields", try await newer.unknownFields(), are: ["dnd", "glad", "strength=3 more"])
        stage.forbid([.offline], of: phone.user, .steadiness, from: came + .seconds(1), until: newer.ends.lowerBound)

        stage.offline(phone.user, after: newer.ends.upperBound, within: .seconds(2))
        stage.forbid([.online, .away], of: phone.user, .ghosts, from: newer.ends.upperBound, who: .reads)
        try await stage.see([.status(phone.user, .offline)])
        stage.check("the unknown fields", try await newer.unknownFields(), are: ["dnd", "glad", "strength=3 more"])
    }

    /// Only Redis's clock matters, except for token expiry, which workers check with the clock of their host.
    static let clocksApart = Fault(
        .mixed, "clocks of the workers' hosts hours apart",
        equipment: Stage.Equipment(
            clocks: [0: .seconds(3 * 3600), 1: .seconds(-5 * 3600)], refreshesTokens: false)
    ) { stage in
        let cast = try await stage.cast()
        let people = try await stage.commuters()
        stage.steady(cast.steady)
        let done = try await stage.commute(people)
        let goodbye = Date()
        stage.converge(people, done: done, after: done)
        try await stage.see([.status(people.goner.user, .offline)])
        stage.checkLastSeen(of: people.goner.user, near: goodbye)
        stage.gone([0])
        let died = try await stage.hosts[0].kill()
        stage.typingExpires(cast.typist.user, signalled: cast.signalled)
        stage.dead(cast.lost, since: died)
    }
}

extension Stage {
    fileprivate func check(_ what: String, _ value: [String], are expected: [String]) {
        found(.other, broken: value == expected ? nil : "\(what) are \(value), not \(expected)")
    }

    fileprivate func checkLastSeen(of user: UserID, near date: Date) {
        let expected = date.timeIntervalSince1970
        let seen = observers.flatMap(\.notes).compactMap { note -> Timestamp? in
            guard case .presence(let presence) = note.event, presence.user == user, presence.status == .offline else {
                return nil
            }
            return presence.lastSeen
        }
        let wrong = seen.filter { abs(Double($0.milliseconds) / 1000 - expected) > 1 }
        found(.other, broken: wrong.isEmpty ? nil : "\(user) was last seen at \(wrong), not \(expected)")
    }
}
