// Combinations of faults: delayed operations arrive after newer ones.

internal import Harness
internal import RollcallClient
internal import TestSupport

extension Fault {
    static let mixedFaults =
        [heldBack, movedAndHealed(afterLease: false), movedAndHealed(afterLease: true), firstWriteLate]
        + [twoDevicesOverEmptied, halfHeartbeatAgo, tenSecondsAgo, newerWorker, clocksApart]

    /// What a worker wrote before it died reaches Redis long after its lease expired.
    private static let heldBack = Fault(.mixed, "bytes of a killed worker let through 30 s later") { stage in
        let cast = try await stage.cast()
        let changer = try await stage.person("changer", manner: .staysAway)
        let unborn = try await stage.person("unborn", manner: .staysAway)
        try await changer.come(to: 0)
        try await stage.see([.status(changer.user, .online)])
        stage.steady(cast.steady)
        stage.forbid([.online, .away], of: unborn.user, .order, from: .now)

        let ways = stage.hosts[0].toRedis
        try await ways.set(.stalled)
        try await changer.say(.state(.idle))
        try await unborn.come(to: 0, until: .welcomed)
        try await eventually("bytes are held back") { try await ways.heldBytes() > 0 }
        stage.gone([0])
        let died = try await stage.hosts[0].kill()
        stage.typingExpires(cast.typist.user, signalled: cast.signalled)
        stage.dead(cast.lost + [changer.user], since: died)
        try await Task.sleep(until: died + .seconds(30), clock: .continuous)
        try await ways.set(.clear)
        stage.look(until: .now + .seconds(2))
    }

    /// The device's previous worker still has the old session, and asserts it once it reaches Redis again.
    private static func movedAndHealed(afterLease: Bool) -> Fault {
        let name = "its old worker heals \(afterLease ? "after" : "within") its lease"
        return Fault(.mixed, "a device moves, says goodbye, \(name)") { stage in
            let old = try await stage.person("mover", manner: .staysAway)
            let new = try await stage.person("mover", manner: .staysAway)
            let friend = try await stage.person("\(Cast.bystander)2")
            try await friend.come(to: 2)
            try await old.come(to: 0)
            try await stage.see([.status(old.user, .online), .status(friend.user, .online)])
            stage.mayLose([old.user])

            let ways = stage.hosts[0].toRedis
            let lease = stage.settings.lease
            let began = Moment.now
            try await ways.set(.stalled)
            try await new.come(to: 1)
            let gone = try await new.say(.goodbye)
            stage.offline(old.user, after: gone, within: .seconds(1))
            let heals = afterLease ? began + lease + .seconds(2) : began + lease / 2
            try await Task.sleep(until: heals, clock: .continuous)
            try await ways.set(.clear)
            stage.blind(0, from: began, to: .now)
            stage.look(until: .now + lease + .seconds(2))
        }
    }

    /// The first copy of the write for a `hello` is delayed until the worker has timed it out and written it again.
    private static let firstWriteLate = Fault(.mixed, "a first write executed after its second") { stage in
        let late = try await stage.person("late", manner: .staysAway)
        let ways = stage.hosts[0].toRedis
        let write = [late.user.text, late.device.text, "active"].map { "$\($0.utf8.count)\r\n\($0)\r\n" }.joined()
        try await ways.stallOnSight(of: write) { try await late.come(to: 0, until: .welcomed) }
        try await stage.see([.status(late.user, .online)])
        let idle = try await late.say(.state(.idle))
        stage.converge(late.user, .away, after: idle)
        try await stage.see([.status(late.user, .away)])
        let released = Moment.now
        try await ways.set(.clear)
        stage.forbid([.online, .offline], of: late.user, .order, from: released)
        stage.look(until: released + .seconds(2))
    }

    /// The weaker state must not be written first.
    private static let twoDevicesOverEmptied = Fault(
        .mixed, "an active and a background device over an emptied Redis", on: [.server]
    ) { stage in
        let phone = try await stage.person("both", "phone")
        let laptop = try await stage.person("both", "laptop", state: .background)
        try await phone.come(to: 0)
        try await laptop.come(to: 1)
        try await stage.see([.status(phone.user, .online)])
        stage.forbid([.away, .offline], of: phone.user, .steadiness, from: .now, who: .observers)
        try await stage.outage(Outage(losesData: true)) {
            try await stage.killRedis()
        } end: { _ in
            try await stage.startRedis()
        }
        stage.converge(phone.user, .online, after: .now)
    }
}
