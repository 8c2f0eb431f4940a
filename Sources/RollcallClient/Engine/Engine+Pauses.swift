// Waiting by the client's own clock, for texts that time makes wrong.

/// One wait.
struct PauseID: Hashable, Sendable {
    private let number = SerialNumber()
}

/// A wait, and whom it keeps.
struct Pause {
    let alarm: Alarm?
    /// Told whether the client goes on.
    let done: (Bool) -> Void
}

extension Engine {
    func pause(_ id: PauseID, for duration: Duration?, done: @escaping (Bool) -> Void) {
        guard !isClosed else { return done(false) }
        let alarm = duration.map { _ in Alarm(on: loop, by: clock) { [weak self] in self?.endPause(id) } }
        pauses[id] = Pause(alarm: alarm, done: done)
        alarm?.set(duration.map { clock.now + $0 })
    }

    func endPause(_ id: PauseID) {
        pauses.removeValue(forKey: id)?.done(!isClosed)
    }

    func endPauses() {
        for id in pauses.keys { endPause(id) }
    }
}

extension RollcallClient {
    /// Waits by the client's clock, until the worker's clock is found to have been set, the task is cancelled or the
    /// client closed; with no duration, for these alone. Begins before the caller's actor takes
    /// another turn, so that whoever moves that clock in a test sees the pause: nothing goes by way of other threads.
    ///
    /// - Returns: false once the client is closed, or if the task is cancelled: there is nothing more to wait for.
    func pause(_ duration: Duration?, isolation actor: isolated (any Actor)? = #isolation) async -> Bool {
        if Task.isCancelled { return false }
        let id = PauseID()
        let engine = self.engine
        let goesOn = await withTaskCancellationHandler(
            operation: {
                await withCheckedContinuation(isolation: actor) { done in
                    engine.run { $0.pause(id, for: duration) { done.resume(returning: $0) } }
                    // A task that was cancelled before the engine was asked had `onCancel` end what did not exist yet.
                    if Task.isCancelled { engine.run { $0.endPause(id) } }
                }
            }, onCancel: { engine.run { $0.endPause(id) } }, isolation: actor)
        return goesOn && !Task.isCancelled
    }
}
