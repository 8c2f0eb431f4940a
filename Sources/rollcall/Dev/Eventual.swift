// The end of a process is reported once, by a callback, and awaited in several places.

import Synchronization

/// A value that comes once, and those who wait for it.
final class Eventual<Value: Sendable>: Sendable {
    private enum State {
        case awaited(by: [CheckedContinuation<Value, Never>])
        case known(Value)
    }

    private let state = Mutex(State.awaited(by: []))

    /// Gives the value to all who wait or ever will. A second call changes nothing.
    func settle(_ value: Value) {
        let waiting = state.withLock { state -> [CheckedContinuation<Value, Never>] in
            guard case .awaited(let waiting) = state else { return [] }
            state = .known(value)
            return waiting
        }
        for continuation in waiting { continuation.resume(returning: value) }
    }

    /// The value, if it has come.
    var known: Value? {
        state.withLock { if case .known(let value) = $0 { value } else { nil } }
    }

    /// Waits for the value, under cancellation too: what is awaited is sure to come.
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
