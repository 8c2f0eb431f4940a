// Waiting by the client's own clock, for texts that time makes wrong.

/// One wait.
struct PauseID: Hashable, Sendable {
    private let number = SerialNumber()
}

/// A wait, and whom it keeps.
struct Pause {
    let alarm: Alarm
    let done: () -> Void
}

extension Engine {
    func pause(_ id: PauseID, for duration: Duration, done: @escaping () -> Void) {
        guard !isClosed else { return done() }
        let alarm = Alarm(on: loop, by: clock) { [weak self] in self?.endPause(id) }
        pauses[id] = Pause(alarm: alarm, done: done)
        alarm.set(clock.now + duration)
    }

    func endPause(_ id: PauseID) {
        pauses.removeValue(forKey: id)?.done()
    }
}

extension RollcallClient {
    /// Waits by the client's clock, until the task is cancelled or the client closed.
    nonisolated(nonsending) func pause(_ duration: Duration) async {
        if Task.isCancelled { return }
        let id = PauseID()
        let engine = self.engine
        await withTaskCancellationHandler {
            await withCheckedContinuation { done in engine.run { $0.pause(id, for: duration) { done.resume() } } }
        } onCancel: {
            engine.run { $0.endPause(id) }
        }
    }
}
