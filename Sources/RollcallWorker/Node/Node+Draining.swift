// The end of a worker in good order: its devices are sent elsewhere, what they left is written, and its lease ends.

internal import NIOConcurrencyHelpers
internal import NIOCore
internal import RollcallCore

extension Node {
    /// Sends every device elsewhere, then ends the lease.
    ///
    /// - Parameter spread: over how long; `nil` for `worker.drain`.
    package func drain(over spread: Duration? = nil) async throws {
        leave()
        let destinations = try await onLease { $0.handOver() } ?? []
        let spread = spread ?? settings.drain
        try await onEachShard { driver, _ in driver.after { $0.drain(over: spread, to: destinations, at: $1) } }
        let deadline = ContinuousClock.now + spread + .seconds(2)
        while ContinuousClock.now < deadline, try await !allShards({ $0.isDrained }) {
            try await Task.sleep(for: .milliseconds(20))
        }
        // With nobody left who might come back, the others need not wait.
        let grace = try await allShards { $0.sessionCount == 0 } ? .zero : settings.shard.grace
        try await onLease { $0.end(after: grace) }
    }

    private func allShards(_ condition: @escaping @Sendable (Shard) -> Bool) async throws -> Bool {
        for shard in shards.withLockedValue({ $0 }) {
            guard try await shard.eventLoop.submit({ condition(shard.value.shell.shard) }).get() else { return false }
        }
        return true
    }

    /// - Returns: `nil` where no lease was ever sought.
    @discardableResult
    private func onLease<Value: Sendable>(
        _ body: @escaping @Sendable (LeaseDriver) -> EventLoopFuture<Value>
    ) async throws -> Value? {
        guard let lease = lease.withLockedValue({ $0 }) else { return nil }
        return try await lease.eventLoop.flatSubmit { body(lease.value) }.get()
    }
}
