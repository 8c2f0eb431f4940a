// The values that a stream has emitted so far, with the time of each. Tests ask for the last value, or whether a value
// ever occurred.

public import RollcallClient
internal import Synchronization
internal import TestSupport

/// Collects the values of a client's stream until the observer is released.
public final class Observer<Value: Sendable>: Sendable {
    private let seen: Seen
    private let task: Task<Void, Never>

    private final class Seen: Sendable {
        let values = Mutex<[(value: Value, at: ContinuousClock.Instant)]>([])
    }

    public init(_ updates: Updates<Value>) {
        let seen = Seen()
        self.seen = seen
        task = Task {
            for await value in updates {
                seen.values.withLock { $0.append((value, .now)) }
            }
        }
    }

    deinit { task.cancel() }

    public var last: Value? { seen.values.withLock { $0.last?.value } }
    public var all: [Value] { seen.values.withLock { $0.map(\.value) } }
    public var timeline: [(value: Value, at: ContinuousClock.Instant)] { seen.values.withLock { $0 } }

    /// Waits until the last value satisfies `isWanted`.
    ///
    /// - Returns: when that value arrived.
    @discardableResult
    public func sees(
        _ what: String, within limit: Duration = .seconds(30), _ isWanted: (Value) -> Bool
    ) async throws -> ContinuousClock.Instant {
        var moment = ContinuousClock.now
        try await eventually("the observer sees \(what), not \(all)", within: limit) {
            guard let last = seen.values.withLock({ $0.last }), isWanted(last.value) else { return false }
            moment = last.at
            return true
        }
        return moment
    }
}

extension Observer<Typing> {
    @discardableResult
    public func sees(typing users: Set<UserID>, within limit: Duration = .seconds(30)) async throws
        -> ContinuousClock.Instant
    {
        try await sees("\(users) typing", within: limit) { Set($0.typists.map(\.user)) == users }
    }
}

extension Observer<Presence> {
    @discardableResult
    public func sees(_ status: PresenceStatus, within limit: Duration = .seconds(30)) async throws
        -> ContinuousClock.Instant
    {
        try await sees("\(status)", within: limit) { $0.status == status }
    }
}
