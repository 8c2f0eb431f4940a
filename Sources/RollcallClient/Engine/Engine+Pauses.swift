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
    /// Waits by the client's clock, until the task is cancelled or the client closed. Begins before the caller's actor takes
    /// another turn, so that whoever moves that clock in a test sees the pause: nothing goes by way of other threads.
    func pause(_ duration: Duration, isolation actor: isolated (any Actor)? = #isolation) async {
        if Task.isCancelled { return }
        let id = PauseID()
        let engine = self.engine
        await withTaskCancellationHandler(
            operation: {
                await withCheckedContinuation(isolation: actor) { done in
                    engine.run { $0.pause(id, for: duration) { done.resume() } }
                }
            }, onCancel: { engine.run { $0.endPause(id) } }, isolation: actor)
    }
}
