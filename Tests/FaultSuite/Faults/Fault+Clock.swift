// The clock of Redis is set while devices are connected: a virtual machine resumes, or an NTP client steps the clock.

internal import Harness
internal import RollcallClient
internal import TestSupport

extension Fault {
    static let clockFaults =
        SettableClock.isAvailable ? [setBack, setForward, setBackShortly, setForwardAndBack, setBackAfterDeath] : []

    private static let hour = Duration.seconds(3600)
    /// Less than `typing.expiry`, so that no stored expiry is too far ahead to be valid.
    private static let shortStep = Duration.seconds(3)

    private static let setBack = clockSet("Redis's clock set back by 1 h") { stage in
        try stage.setRedisClock(by: .zero - hour)
    }

    private static let setForward = clockSet("Redis's clock set forward by 1 h") { stage in
        try stage.setRedisClock(by: hour)
    }

    private static let setBackShortly = clockSet("Redis's clock set back by 3 s") { stage in
        try stage.setRedisClock(by: .zero - shortStep)
    }

    private static let setForwardAndBack = clockSet("Redis's clock set forward by 1 h, and back after 5 s") { stage in
        try stage.setRedisClock(by: hour)
        try await Task.sleep(for: .seconds(5))
        try stage.setRedisClock(by: .zero - hour)
    }

    /// Two devices reconnect after the step: one that left before it, and one whose old worker still believes it
    /// connected. Typing that began before the step is renewed and stopped after it.
    private static func clockSet(_ name: String, step: @escaping @Sendable (Stage) async throws -> Void) -> Fault {
        Fault(.mixed, name, on: [.server], equipment: Stage.Equipment(setsRedisClock: true)) { stage in
            let returner = try await stage.person("returner")
            let mover = try await stage.person("mover", manner: .staysAway)
            let moved = try await stage.person("mover", manner: .staysAway)
            let talker = try await stage.person("talker")
            for (host, person) in [returner, mover, talker].enumerated() { try await person.come(to: host) }
            try await stage.see([returner, mover, talker].map { .status($0.user, .online) })
            try await returner.goodbye()
            try await stage.see([.status(returner.user, .offline)])
            stage.mayLose([mover.user])
            _ = try await stage.type(talker)
            try await stage.outage {
                try await talker.ask(.typing(stage.room, true))
                try await step(stage)
            } end: { _ in
                try await returner.come(to: 1, until: .welcomed)
                try await moved.come(to: 2, until: .welcomed)
                // By then, the typing user's worker has noticed the step.
                try await Task.sleep(for: stage.settings.heartbeat * 2)
            }
            for person in [returner, moved, talker] { stage.converge(person.user, .online, after: .now) }
            try await talker.say(.typing(stage.room, true))
            let stopped = try await talker.say(.typing(stage.room, false))
            // What observers were told before the step counts until it expires: changes after the step have earlier times.
            stage.typingExpires(talker.user, signalled: stopped)
        }
    }

    /// The lease of the dead worker may last once more, from the first heartbeat after the step.
    private static let setBackAfterDeath = Fault(
        .mixed, "killed (-9), and Redis's clock set back by 1 h at once", on: [.server],
        equipment: Stage.Equipment(setsRedisClock: true)
    ) { stage in
        let cast = try await stage.cast()
        stage.steady(cast.steady)
        stage.gone([0])
        // What an app's server has said for three seconds would end an hour later: docs/here.md names that limit.
        try await Task.sleep(for: .seconds(4))
        let died = try await stage.hosts[0].kill()
        try stage.setRedisClock(by: .zero - hour)
        stage.typingExpires(cast.typist.user, signalled: cast.signalled)
        stage.dead(cast.lost, since: died, tolerance: stage.settings.lease + stage.settings.heartbeat + Promise.way)
    }
}
