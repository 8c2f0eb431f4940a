// One direction of one connection: what is sent arrives in order, later, or never.

internal import DequeModule
internal import RollcallCore

/// A stream of messages over a path.
final class Pipe {
    private let path: Path
    private let agenda: Agenda
    private var lastArrival = Instant(nanoseconds: 0)
    /// Has come as far as the path lets it.
    private var heldBack = Deque<() -> Void>()
    private var isCut = false
    /// This connection alone is held back, whatever the path does for others.
    private var isHeldBack = false

    init(over path: Path, agenda: Agenda) {
        self.path = path
        self.agenda = agenda
    }

    /// - Parameter arrival: what the message does at the other end.
    func send(_ arrival: @escaping () -> Void) {
        lastArrival = max(lastArrival, agenda.now + path.drawnDelay())
        agenda.at(lastArrival) { self.arrive(arrival) }
    }

    /// What is on its way is lost, and whatever is sent later.
    func cut() {
        isCut = true
        heldBack = []
    }

    /// What is on its way arrives only after `pause`.
    func holdBack(for pause: Duration) {
        isHeldBack = true
        agenda.after(pause) { [self] in
            isHeldBack = false
            flow()
        }
    }

    /// What was held back may go on.
    func flow() {
        while !isHeldBack, !path.isHeld, let arrival = heldBack.popFirst() { arrival() }
        if !heldBack.isEmpty, path.isHeld { path.awaitRelease(self) }
    }

    private func arrive(_ arrival: @escaping () -> Void) {
        guard !isCut else { return }
        guard isHeldBack || path.isHeld || !heldBack.isEmpty else { return arrival() }
        heldBack.append(arrival)
        if path.isHeld { path.awaitRelease(self) }
    }
}
