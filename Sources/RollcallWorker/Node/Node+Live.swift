// What a worker knows of itself and of all workers at this moment, for those who watch.

internal import NIOConcurrencyHelpers
internal import NIOCore
internal import RollcallCore
internal import RollcallModel
internal import RollcallRedis

/// Everything that is to be seen live, but for what the log tells.
struct LiveReport: Sendable {
    /// A worker's connection to Redis, as it finds it.
    struct Redis: Sendable {
        /// Whether it answers, and says who the workers are.
        var isUp = false
        /// Of the commands of the last minute; `nil` if there were none.
        var medianMicroseconds: Int64?
        var slowMicroseconds: Int64?
    }

    var own: Incarnation?
    var isReady: Bool
    var redis: Redis
    /// None while Redis is away; then the time is what this worker takes it to be.
    var workers: WorkersReport
    /// The conversations in which the most people type, the busiest first.
    var conversations: [BusyConversation]
}

extension Node {
    /// How many of the busiest conversations are told.
    private static let busiest = 10

    /// What is known here is told while Redis is away, too: that is when people look.
    func live() async throws -> LiveReport {
        var redis = try await redis()
        let told = try await workersIfTold()
        redis.isUp = redis.isUp && told != nil
        let time = try await first { $0.shell.shard.redisTime(at: $0.now) }
        let conversations = try await fromEachShard { $0.shell.shard.busiest(Self.busiest, at: $0.now) }
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

    /// What all loops have done so far, together.
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
