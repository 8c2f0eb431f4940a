// One direction of one connection: messages arrive in order, late, or never.

internal import DequeModule
internal import RollcallCore

/// A stream of messages over a path.
final class Pipe {
    private let path: Path
    private let agenda: Agenda
    private var lastArrival = Instant(nanoseconds: 0)
    /// Messages that have arrived at a blocked path.
    private var heldBack = Deque<() -> Void>()
    private var isCut = false
    /// Whether this connection alone is held back, independent of the path.
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

    /// Drops everything in flight or sent later.
    func cut() {
        isCut = true
        heldBack = []
    }

    /// Holds back everything in flight for `pause`.
    func holdBack(for pause: Duration) {
        isHeldBack = true
        agenda.after(pause) { [self] in
            isHeldBack = false
            flow()
        }
    }

    /// Delivers what was held back.
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
