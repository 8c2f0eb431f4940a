// A bench as nested scopes: Redis, two workers, and the measurement on a separate thread, since it blocks.

import Foundation
import Synchronization

/// One run of `rollcall bench`.
struct BenchSession: Sendable {
    /// The number of measured signals.
    let signals: Int

    /// Signals that are sent first and not counted, while connections and caches are cold.
    private static let warmUp = 100

    /// With these settings, every signal goes to Redis at once, and no limit applies.
    private static let overrides = ["typing.throttle=0s", "limits.message_rate=100000", "limits.message_burst=1000000"]

    /// - Throws: ``PartEnded`` if a part ends unexpectedly, ``CannotServe`` if one cannot start, ``BenchFailure``.
    func run() async throws -> BenchReport {
        try await PrivateRedis.during(atHome: false) { redis, _ in
            try await DevWorker.during(id: "w1", redis: redis.url, origins: [], overrides: Self.overrides) { first, _ in
                try await DevWorker.during(id: "w2", redis: redis.url, origins: [], overrides: Self.overrides) {
                    second, _ in
                    try await measure(redis, from: first, to: second)
                }
            }
        }
    }

    private func measure(_ redis: PrivateRedis, from: DevWorker, to: DevWorker) async throws -> BenchReport {
        let isCancelled = Flag()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread {
                    continuation.resume(
                        with: Result { try measureInTurns(redis, from: from, to: to, isCancelled: isCancelled) })
                }
            }
        } onCancel: {
            isCancelled.raise()
        }
    }

    /// Measures the floor and Rollcall in turns, so that other load on the machine affects both.
    private func measureInTurns(
        _ redis: PrivateRedis, from: DevWorker, to: DevWorker, isCancelled: Flag
    ) throws -> BenchReport {
        let floor = try PublishProbe(redis)
        var typing = try TypingProbe(from: from, to: to)
        var (floors, latencies) = ([Duration](), [Duration]())
        for _ in 0..<Self.warmUp {
            _ = try floor.measure()
            _ = try typing.measure()
        }
        for _ in 0..<signals {
            if isCancelled.isRaised { throw CancellationError() }
            floors.append(try floor.measure())
            latencies.append(try typing.measure())
        }
        return BenchReport(signals: signals, typing: Latencies(latencies), publish: Latencies(floors))
    }
}

/// A flag that is raised once, for a thread that polls it.
private final class Flag: Sendable {
    private let value = Atomic(false)

    var isRaised: Bool { value.load(ordering: .relaxed) }

    func raise() { value.store(true, ordering: .relaxed) }
}

/// A peer of the bench did not behave as expected.
struct BenchFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
