// Workers that die, sleep, or leave in good order.

internal import Foundation
internal import Harness
internal import RollcallClient

extension Fault {
    static let workerFaults = [killed, stopped]

    private static let killed = Fault(.worker, "killed (-9)") { stage in
        let cast = try await stage.cast()
        stage.steady(cast.steady)
        stage.gone([0])
        let died = try await stage.hosts[0].kill()
        stage.typingExpires(cast.typist.user, signalled: cast.signalled)
        stage.dead(cast.lost, since: died)
    }

    /// Nobody's connection is lost: for the others all who are on it are gone, until it wakes.
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
        // Its session on the sleeping worker stands; its new one, elsewhere, is the newer.
        let again = try await stage.person("mover", manner: .staysAway)
        try await again.come(to: 1)
        try await Task.sleep(until: wakes, clock: .continuous)
        let continued = stage.hosts[0].signal(SIGCONT)
        stage.mayLose([mover.user])
        for user in onIt { stage.converge(user, .online, after: continued) }
        stage.look(until: continued + stage.settings.lease + .seconds(1))
    }
}
