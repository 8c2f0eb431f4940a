// A process as an operating system runs it: it reads what arrived, wakes for its timers, can be stopped with all its
// sockets open, and can die in the middle of anything.

internal import RollcallCore

/// The event loops of one worker's process. They are taken for one, whose turns are as short as can be.
final class Process {
    private enum State {
        case running
        case stopped
        case dead
    }

    let chance: Chance
    private unowned let world: World
    private var state = State.running
    /// What came while it was stopped: it waits in the sockets' buffers.
    private var arrivals: [() -> Void] = []
    /// Timers whose moment passed while it was stopped.
    private var overdue: [() -> Void] = []
    private var runsSince: Instant

    init(_ world: World) {
        self.world = world
        chance = world.workerChance.fork()
        runsSince = world.agenda.now
    }

    var now: Instant { world.agenda.now }
    var isDead: Bool { state == .dead }
    var isRunning: Bool { state == .running }

    /// Whether it has been running for so long.
    func hasRun(for duration: Duration) -> Bool { isRunning && now - runsSince >= duration }

    /// Something has arrived from the network.
    func arrives(_ event: @escaping () -> Void) {
        switch state {
        case .running: event()
        case .stopped: arrivals.append(event)
        case .dead: break
        }
    }

    func after(_ pause: Duration, _ event: @escaping () -> Void) {
        at(now + pause, event)
    }

    func at(_ moment: Instant, _ event: @escaping () -> Void) {
        world.agenda.at(moment) { [self] in
            switch state {
            case .running: event()
            case .stopped: overdue.append(event)
            case .dead: break
            }
        }
    }

    /// As the loop's next task.
    func soon(_ event: @escaping () -> Void) {
        at(now, event)
    }

    // MARK: Signals

    /// `SIGSTOP`.
    func stop() {
        if state == .running { state = .stopped }
    }

    /// `SIGCONT`: a loop reads before it looks at its timers.
    func resume() {
        guard state == .stopped else { return }
        state = .running
        runsSince = now
        let events = arrivals + overdue
        arrivals = []
        overdue = []
        for event in events { soon(event) }
    }

    /// It is gone, and nothing that it was about happens.
    func die() {
        state = .dead
        arrivals = []
        overdue = []
    }
}
