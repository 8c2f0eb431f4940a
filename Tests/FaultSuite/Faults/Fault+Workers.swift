// Workers that are killed or suspended.

internal import Foundation
internal import Harness
internal import RollcallClient

extension Fault {
    static let workerFaults = [killed, restarted, allKilled, stopped]

    static let killed = Fault(.worker, "killed (-9)") { stage in
        let cast = try await stage.cast()
        stage.steady(cast.steady)
        stage.gone([0])
        let died = try await stage.hosts[0].kill()
        stage.typingExpires(cast.typist.user, signalled: cast.signalled)
        stage.dead(cast.lost, since: died)
    }

    /// The restarted worker never treats the devices of its previous incarnation as its own.
    static let restarted = Fault(.worker, "killed (-9), and started under its id within its lease") { stage in
        let cast = try await stage.cast()
        stage.steady(cast.steady)
        stage.gone([0])
        let died = try await stage.hosts[0].kill()
        try await stage.hosts[0].start()
        stage.typingExpires(cast.typist.user, signalled: cast.signalled)
        stage.dead(cast.lost, since: died)
        stage.look(until: died + stage.settings.lease + .seconds(3))
    }

    private static let allKilled = Fault(.worker, "all killed (-9) at once, one started later") { stage in
        let cast = try await stage.cast()
        stage.gone([0, 1, 2])
        let died = Moment.now
        for host in stage.hosts { _ = try await host.kill() }
        // A minute is for the settings with long leases. What matters is that the leases have long expired.
        let absence = stage.settings == .short ? Duration.seconds(10) : .seconds(60)
        try await Task.sleep(for: absence)
        let starting = Moment.now
        try await stage.hosts[0].start()
        let ready = Moment.now
        stage.blind(0, from: died, to: ready)
        for user in cast.lost { stage.converge(user, .offline, after: ready) }
        for user in cast.steady { stage.converge(user, .online, after: ready) }
        for user in cast.lost { stage.forbid([.online, .away], of: user, .ghosts, from: starting, who: .reads) }
        stage.look(until: ready + stage.settings.lease * 2 + .seconds(1))
    }

    /// No connection is lost. To other workers, all devices on the suspended worker are gone until it resumes.
    private static let stopped = Fault(.worker, "stopped for 15 s (SIGSTOP), and continued") { stage in
        let cast = try await stage.cast()
        let onIt = cast.lost + [cast.bystanders[0].user]
        stage.steady(cast.bystanders.dropFirst().map(\.user) + [cast.twin])
        let mover = try await stage.person("mover", manner: .staysAway)
        try await mover.come(to: 0)
        try await stage.see([.status(mover.user, .online)])
        stage.steady([mover.user])

        let stopped = stage.hosts[0].signal(SIGSTOP)
        let wakes = stopped + .seconds(15)
        stage.blind(0, from: stopped, to: wakes)
        stage.typingExpires(cast.typist.user, signalled: cast.signalled)
        stage.dead(onIt, since: stopped, until: wakes)
        // The device's session on the suspended worker still exists; its new session on another worker is newer.
        stage.mayLose([mover.user])
        let again = try await stage.person("mover", manner: .staysAway)
        try await again.come(to: 1)
        try await Task.sleep(until: wakes, clock: .continuous)
        let continued = stage.hosts[0].signal(SIGCONT)
        for user in onIt { stage.converge(user, .online, after: continued) }
        stage.look(until: continued + stage.settings.lease + .seconds(1))
    }
}
