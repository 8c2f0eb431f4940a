// The network as it is at the moment: how long things take, and whether anything gets through at all.

internal import RollcallCore

/// One direction between two places.
final class Path {
    /// How long a message takes.
    var delay: ClosedRange<Duration> = Path.near
    private(set) var isHeld = false
    private var waiting: [Wire] = []
    private let agenda: Agenda
    private let chance: Chance

    /// A machine in the same data centre.
    static let near = Duration.microseconds(100)...Duration.milliseconds(2)

    init(agenda: Agenda, chance: Chance) {
        self.agenda = agenda
        self.chance = chance
    }

    func drawnDelay() -> Duration { chance.duration(in: delay) }

    /// Nothing arrives any more, and nothing is lost: what is sent waits for ``release()``.
    func hold() {
        isHeld = true
    }

    func release() {
        isHeld = false
        let wires = waiting
        waiting = []
        for wire in wires { agenda.after(drawnDelay()) { wire.flow() } }
    }

    /// A wire has something that waits for the release.
    func awaitRelease(_ wire: Wire) {
        if !waiting.contains(where: { $0 === wire }) { waiting.append(wire) }
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
