// What a stream has brought so far, gathered by a task of its own.

import NIOConcurrencyHelpers
import RollcallClient
import TestSupport

/// An observer that keeps everything it sees.
final class Collected<Element: Sendable>: Sendable {
    private let state = NIOLockedValueBox<(values: [Element], ended: Bool)>(([], false))
    private let task: Task<Void, Never>

    init(_ updates: Updates<Element>) {
        // The iterator is made here, so that the observation has begun when this returns.
        var iterator = SendableIterator(iterator: updates.makeAsyncIterator())
        task = Task { [state] in
            while let value = await iterator.iterator.next() { state.withLockedValue { $0.values.append(value) } }
            state.withLockedValue { $0.ended = true }
        }
    }

    deinit {
        task.cancel()
    }

    var values: [Element] { state.withLockedValue { $0.values } }
    var hasEnded: Bool { state.withLockedValue { $0.ended } }

    func cancel() {
        task.cancel()
    }

    /// Waits until the newest value is as asked for.
    func latest(_ what: String, _ matches: (Element) -> Bool) async throws {
        try await eventually(what) { values.last.map(matches) ?? false }
    }
}

/// Handed over to the task and never touched again.
private struct SendableIterator<Element: Sendable>: @unchecked Sendable {
    var iterator: Updates<Element>.Iterator
}
