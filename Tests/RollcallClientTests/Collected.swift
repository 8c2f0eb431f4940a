// Collects the values of a stream in a separate task.

import NIOConcurrencyHelpers
import RollcallClient
import TestSupport

/// An observer that keeps all values.
final class Collected<Element: Sendable>: Sendable {
    private let state = NIOLockedValueBox<(values: [Element], ended: Bool)>(([], false))
    private let task: Task<Void, Never>

    init(_ updates: Updates<Element>) {
        // Created here, so that observation has started when this returns.
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

    /// Waits until the newest value matches.
    func latest(_ what: String, _ matches: (Element) -> Bool) async throws {
        try await eventually(what) { values.last.map(matches) ?? false }
    }
}

/// Transferred to the task, and not used elsewhere.
private struct SendableIterator<Element: Sendable>: @unchecked Sendable {
    var iterator: Updates<Element>.Iterator
}
