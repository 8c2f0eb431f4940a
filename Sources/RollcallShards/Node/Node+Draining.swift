// Graceful shutdown of a worker: moves its devices, writes their final state, and ends its lease.

internal import NIOConcurrencyHelpers
internal import NIOCore
internal import RollcallCore

extension Node {
    /// Moves every device to another worker, then ends the lease.
    ///
    /// - Parameter spread: Over how long; `nil` for `worker.drain`.
    package func drain(over spread: Duration? = nil) async throws {
        leave()
        let destinations = try await onLease { $0.handOver() } ?? []
        let spread = spread ?? settings.drain
        try await onEachShard { driver, _ in driver.shard.after { $0.drain(over: spread, to: destinations, at: $1) } }
        let deadline = ContinuousClock.now + spread + .seconds(2)
        while ContinuousClock.now < deadline, try await !allShards({ $0.isDrained }) {
            try await Task.sleep(for: .milliseconds(20))
        }
        // If no device is left that could reconnect, the grace period is not needed.
        let grace = try await allShards { $0.sessionCount == 0 } ? .zero : settings.shard.grace
        try await onLease { $0.end(after: grace) }
    }

    private func allShards(_ condition: @escaping @Sendable (Shard) -> Bool) async throws -> Bool {
        for shard in shards.withLockedValue({ $0 }) {
            guard try await shard.eventLoop.submit({ condition(shard.value.shard) }).get() else { return false }
        }
        return true
    }

    /// - Returns: `nil` if the node never requested a lease.
    @discardableResult
    private func onLease<Value: Sendable>(
        _ body: @escaping @Sendable (LeaseDriver) -> EventLoopFuture<Value>
    ) async throws -> Value? {
        guard let lease = lease.withLockedValue({ $0 }) else { return nil }
        return try await lease.eventLoop.flatSubmit { body(lease.value) }.get()
    }
}
