// The current state of the network: its delays, and whether it is blocked.

internal import RollcallCore

/// One direction between two places.
final class Path {
    /// How long a message takes.
    var delay = Path.near
    private var holds = 0
    private var lastRelease: Instant?
    private var waiting: [Pipe] = []
    private var whenReleased: [() -> Void] = []
    /// Called when the path is blocked or unblocked.
    var onChange: () -> Void = {}
    private let agenda: Agenda
    private let chance: Chance

    /// The delay within a data centre.
    static let near = Duration.microseconds(100)...Duration.milliseconds(2)
    /// The delay over a congested line.
    static let slow = Duration.milliseconds(150)...Duration.milliseconds(200)

    init(agenda: Agenda, chance: Chance) {
        self.agenda = agenda
        self.chance = chance
    }

    var isHeld: Bool { holds > 0 }

    /// Returns whether anything was held back since then.
    func hasHeld(since moment: Instant) -> Bool { isHeld || lastRelease.map { $0 >= moment } ?? false }

    func drawnDelay() -> Duration { chance.duration(in: delay) }

    /// Blocks the path without loss: messages wait until ``release()`` was called as often as this.
    func hold() {
        holds += 1
        onChange()
    }

    func release() {
        holds -= 1
        guard !isHeld else { return }
        lastRelease = agenda.now
        onChange()
        let pipes = waiting
        waiting = []
        for pipe in pipes { agenda.after(drawnDelay()) { pipe.flow() } }
        let events = whenReleased
        whenReleased = []
        for event in events { event() }
    }

    /// Calls `event` when the path is unblocked.
    func whenReleased(_ event: @escaping () -> Void) {
        whenReleased.append(event)
    }

    /// Drops all references to waiting pipes and callbacks.
    func end() {
        waiting = []
        whenReleased = []
        onChange = {}
    }

    /// Registers a pipe with messages that wait for the release.
    func awaitRelease(_ pipe: Pipe) {
        if !waiting.contains(where: { $0 === pipe }) { waiting.append(pipe) }
    }
}

/// Both directions between a client's place and a server's.
struct Route {
    let up: Path
    let down: Path

    init(agenda: Agenda, chance: Chance) {
        up = Path(agenda: agenda, chance: chance)
        down = Path(agenda: agenda, chance: chance)
    }

    var paths: [Path] { [up, down] }
}
