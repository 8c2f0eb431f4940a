// The network as it is at the moment: how long things take, and whether anything gets through at all.

internal import RollcallCore

/// One direction between two places.
final class Path {
    /// How long a message takes.
    var delay = Path.near
    private var holds = 0
    private var lastRelease: Instant?
    private var waiting: [Pipe] = []
    private var whenReleased: [() -> Void] = []
    /// Called when it begins to hold, and when it lets through again.
    var onChange: () -> Void = {}
    private let agenda: Agenda
    private let chance: Chance

    /// A machine in the same data centre.
    static let near = Duration.microseconds(100)...Duration.milliseconds(2)
    /// One behind a line that is full.
    static let slow = Duration.milliseconds(150)...Duration.milliseconds(200)

    init(agenda: Agenda, chance: Chance) {
        self.agenda = agenda
        self.chance = chance
    }

    var isHeld: Bool { holds > 0 }

    /// Whether it held anything back since then.
    func hasHeld(since moment: Instant) -> Bool { isHeld || lastRelease.map { $0 >= moment } ?? false }

    func drawnDelay() -> Duration { chance.duration(in: delay) }

    /// Nothing arrives any more, and nothing is lost: what is sent waits for as many calls of ``release()``.
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

    /// Calls `event` once it lets through again.
    func whenReleased(_ event: @escaping () -> Void) {
        whenReleased.append(event)
    }

    /// Lets go of whoever waits.
    func end() {
        waiting = []
        whenReleased = []
        onChange = {}
    }

    /// A pipe has something that waits for the release.
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
