// As many devices and watched users as a worker is promised to manage: what they cost Redis while they do nothing, and
// how soon all of them are right after it was away.

internal import Harness
internal import RollcallClient
internal import TestSupport

extension Fault {
    static let crowdFaults = [idle, crowded]

    private static let idle = Fault(
        .worker, "10,000 devices idle for a minute", isHeavy: true, mostRounds: 1,
        equipment: Stage.Equipment(ping: .seconds(10), hasDoors: false)
    ) { stage in
        let span = Duration.seconds(60)
        try await stage.arrive(try await stage.strangers(10_000)) { $0 % 3 }
        let began = Moment.now
        let before = try await stage.redis.calls()
        try await Task.sleep(for: span)
        let after = try await stage.redis.calls()
        // Several servers are asked one after the other.
        let asked = Moment.now - began
        let calls = after.merging(before) { $0 - $1 }.filter { $0.value > 0 }

        let beats = Int(Double(stage.hosts.count) * (asked / stage.settings.heartbeat + 1))
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
    private static let crowded = Fault(
        .redis, "killed (-9), back empty after 5 s, with 10,000 devices and 50,000 watched users", isHeavy: true,
        mostRounds: 3, on: [.server], equipment: Stage.Equipment(ping: .seconds(10), hasDoors: false)
    ) { stage in
        let devices = try await stage.strangers(10_000)
        try await stage.arrive(devices) { _ in 0 }
        var truth = Dictionary(uniqueKeysWithValues: devices.map { ($0.user, PresenceStatus.online) })
        for number in 0..<40_000 { truth[try UserID("nobody\(number)")] = .offline }
        let watchers = try await stage.watchers(of: truth, on: 1)

        stage.dataIsLost()
        let began = Moment.now
        try await stage.killRedis()
        for goner in devices[..<500] { try await goner.goodbye() }
        for changer in devices[500..<1000] { try await changer.say(.state(.idle)) }
        try await Task.sleep(until: began + .seconds(5))
        try await stage.startRedis()
        let ended = Moment.now
        for goner in devices[..<500] { truth[goner.user] = .offline }
        for changer in devices[500..<1000] { truth[changer.user] = .away }
        try await Task.sleep(until: ended + stage.settings.lease + .seconds(3))
        stage.judge(watchers, by: truth, from: began, ended: ended)
    }
}

extension Stage {
    /// As many sessions on a host as it takes to watch all these users.
    fileprivate func watchers(of truth: [UserID: PresenceStatus], on host: Int) async throws -> [Roamer] {
        let (users, most) = (truth.keys.sorted(), 2000)
        var watchers: [Roamer] = []
        for start in stride(from: 0, to: users.count, by: most) {
            let watcher = try await extra("watcher\(start)")
            try await watcher.come(to: host)
            try await watcher.ask(.watch(Array(users[start..<min(start + most, users.count)])))
            watchers.append(watcher)
        }
        return watchers
    }

    /// Each watcher saw the truth in time, and saw nobody offline from `start` on who was not.
    fileprivate func judge(
        _ watchers: [Roamer], by truth: [UserID: PresenceStatus], from start: Moment, ended: Moment
    ) {
        var seen: [UserID: PresenceStatus] = [:]
        var last = ended
        for note in watchers.flatMap(\.notes) {
            guard case .presence(let presence) = note.event, presence.status != seen[presence.user] else { continue }
            seen[presence.user] = presence.status
            guard note.at >= start else { continue }
            last = max(last, note.at)
            if presence.status == .offline, truth[presence.user] != .offline {
                found(.steadiness, broken: "\(presence.user) is offline after \((note.at - start).short)")
            }
        }
        let wrong = truth.filter { seen[$0.key] != $0.value }
        let (took, limit) = (last - ended, Promise.convergenceLimit)
        let broken = wrong.first.map { "\(wrong.count) users are wrong, such as \($0.key)" }
        found(
            .convergence, took: took, limit: limit,
            broken: broken ?? (took > limit ? "the last change came after \(took.short)" : nil))
    }
}
