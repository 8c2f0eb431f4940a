// Waits on the client's own clock, for texts that become outdated as time passes.

/// Identifies a wait.
struct PauseID: Hashable, Sendable {
    private let number = SerialNumber()
}

/// A wait, and its callback.
struct Pause {
    let alarm: Alarm?
    /// Called with false if the client is closed.
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
    /// Waits on the client's clock for `duration`, or until the worker's clock is found to have been set, the task is
    /// cancelled or the client is closed; with no duration, only for the latter. The wait is registered before the
    /// caller's actor runs anything else, without a hop to another thread, so a test that moves the clock sees it.
    ///
    /// - Returns: false if the client is closed or the task is cancelled, so that waiting again makes no sense.
    func pause(_ duration: Duration?, isolation actor: isolated (any Actor)? = #isolation) async -> Bool {
        if Task.isCancelled { return false }
        let id = PauseID()
        let engine = self.engine
        let goesOn = await withTaskCancellationHandler(
            operation: {
                await withCheckedContinuation(isolation: actor) { done in
                    engine.run { $0.pause(id, for: duration) { done.resume(returning: $0) } }
                    // If the task was cancelled before the wait was registered, `onCancel` ended nothing. So end it
                    // now.
                    if Task.isCancelled { engine.run { $0.endPause(id) } }
                }
            }, onCancel: { engine.run { $0.endPause(id) } }, isolation: actor)
        return goesOn && !Task.isCancelled
    }
}
