// For the end of a process, which is reported once by a callback and awaited in several places.

import Synchronization

/// A value that is set once, and can be awaited.
final class Eventual<Value: Sendable>: Sendable {
    private enum State {
        case awaited(by: [CheckedContinuation<Value, Never>])
        case known(Value)
    }

    private let state = Mutex(State.awaited(by: []))

    /// Sets the value, for current and future waiters. A second call has no effect.
    func settle(_ value: Value) {
        let waiting = state.withLock { state -> [CheckedContinuation<Value, Never>] in
            guard case .awaited(let waiting) = state else { return [] }
            state = .known(value)
            return waiting
        }
        for continuation in waiting { continuation.resume(returning: value) }
    }

    /// Waits for the value, even if the task is cancelled: it will certainly be set.
    var value: Value {
        get async {
            await withCheckedContinuation { continuation in
                let known = state.withLock { state -> Value? in
                    switch state {
                    case .known(let value): return value
                    case .awaited(let waiting):
                        state = .awaited(by: waiting + [continuation])
                        return nil
                    }
                }
                if let known { continuation.resume(returning: known) }
            }
        }
    }
}
