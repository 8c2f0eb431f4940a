// No fault at all: what devices cost Redis that are there and do nothing.

internal import Harness
internal import RollcallClient

extension Fault {
    static let idle = Fault(
        .worker, "10,000 devices idle for a minute", isHeavy: true, mostRounds: 1,
        equipment: Stage.Equipment(ping: .seconds(10), hasDoors: false)
    ) { stage in
        let span = Duration.seconds(60)
        try await stage.arrive(try await stage.strangers(10_000)) { $0 % 3 }
        let before = try await stage.redis.calls()
        try await Task.sleep(for: span)
        let after = try await stage.redis.calls()
        let calls = after.merging(before) { $0 - $1 }.filter { $0.value > 0 }

        let beats = Int(Double(stage.hosts.count) * (span / stage.settings.heartbeat + 1))
        let writes = try await stage.redis.writes()
        // The three that a heartbeat consists of.
        let allowed = Dictionary(uniqueKeysWithValues: ["zrem", "zadd", "hset"].map { ($0, beats) })
        var excess = 0
        for (command, count) in calls.sorted(by: { $0.key < $1.key }) where writes.contains(command) {
            guard count > allowed[command] ?? 0 else { continue }
            excess += count - (allowed[command] ?? 0)
            stage.found(.other, broken: "\(count) calls of \(command), not \(allowed[command] ?? 0)")
        }
        stage.figure("writes beyond heartbeats", Double(excess))
        stage.figure("commands a second, of all workers", Double(calls.values.reduce(0, +)) / span.inSeconds)
    }
}
