// The current state of this worker and of all workers, for the live view.

internal import NIOConcurrencyHelpers
internal import NIOCore
package import RollcallCore
package import RollcallModel
internal import RollcallRedis

/// The data of the live view, except log events.
package struct LiveReport: Sendable {
    /// The worker's view of its connection to Redis.
    package struct Redis: Sendable {
        /// Whether Redis answers and returns the list of workers.
        package var isUp = false
        /// Over the commands of the last minute; `nil` if there were none.
        package var medianMicroseconds: Int64?
        package var slowMicroseconds: Int64?
    }

    package var own: Incarnation?
    package var isReady: Bool
    package var redis: Redis
    /// Empty while Redis is away; the time is then this worker's estimate.
    package var workers: WorkersReport
    /// The conversations with the most typing users, busiest first.
    package var conversations: [BusyConversation]
}

extension Node {
    /// How many of the busiest conversations are included.
    private static let busiest = 10

    /// Data of this worker is available while Redis is away too, because operators need it most then.
    package func live() async throws -> LiveReport {
        var redis = try await redis()
        let told = try await workersIfTold()
        redis.isUp = redis.isUp && told != nil
        let time = try await first { $0.shard.redisTime(at: $0.now) }
        let conversations = try await fromEachShard { $0.shard.busiest(Self.busiest, at: $0.now) }
        return LiveReport(
            own: incarnation, isReady: isReady, redis: redis,
            workers: told ?? WorkersReport(time: time, workers: []),
            conversations: BusyConversation.busiest(Self.busiest, of: conversations))
    }

    private func workersIfTold() async throws -> WorkersReport? {
        do {
            return try await workers()
        } catch is Unavailable {
            return nil
        }
    }

    /// Collects the counters of all event loops.
    func gatherFigures(on eventLoop: any EventLoop) -> EventLoopFuture<LoopFigures> {
        let asked = shards.withLockedValue { $0 }.map { shard in shard.eventLoop.submit { shard.value.figures } }
        return EventLoopFuture.reduce(LoopFigures(), asked, on: eventLoop, +)
    }

    private func redis() async throws -> LiveReport.Redis {
        guard let lease = lease.withLockedValue({ $0 }) else { return LiveReport.Redis() }
        return try await lease.eventLoop.submit { lease.value.redis }.get()
    }

    private func fromEachShard<Value: Sendable>(
        _ read: @escaping @Sendable (ShardDriver) -> Value
    ) async throws -> [Value] {
        var values: [Value] = []
        for shard in shards.withLockedValue({ $0 }) {
            values.append(try await shard.eventLoop.submit { read(shard.value) }.get())
        }
        return values
    }
}

extension LeaseDriver {
    fileprivate var redis: LiveReport.Redis {
        LiveReport.Redis(
            isUp: isConnected, medianMicroseconds: pulse.roundTripMicroseconds(0.5),
            slowMicroseconds: pulse.roundTripMicroseconds(0.99))
    }
}
