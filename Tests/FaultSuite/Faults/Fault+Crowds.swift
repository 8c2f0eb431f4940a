// As many devices and watched users as a worker must support: the load on Redis while they are idle, and how soon all
// of them are shown correctly after an outage.

internal import Harness
internal import NIOConcurrencyHelpers
internal import RollcallClient
internal import TestSupport

extension Fault {
    static let crowdFaults = [idle, crowded, crowdedWorkerKilled, crowdedSubscribersKilled, crowdedSubscribersCut]

    /// Short-lived tokens would make 10,000 devices send new ones.
    private static let crowd = Stage.Equipment(ping: .seconds(10), refreshesTokens: false, hasDoors: false)

    private static let idle = Fault(
        .worker, "10,000 devices idle for a minute", isHeavy: true, mostRounds: 1,
        equipment: Stage.Equipment(
            ping: .seconds(10), refreshesTokens: false, isStill: true, hasDoors: false)
    ) { stage in
        let span = Duration.seconds(60)
        try await stage.arrive(try await stage.strangers(10_000)) { $0 % 3 }
        // What the others typed before ends.
        try await Task.sleep(for: .seconds(4))
        let began = Moment.now
        let before = try await stage.redis.calls()
        try await Task.sleep(for: span)
        let after = try await stage.redis.calls()
        // The servers are queried one after another.
        let asked = Moment.now - began
        let calls = after.merging(before) { $0 - $1 }.filter { $0.value > 0 }

        let beats = Int(Double(stage.hosts.count) * (asked / stage.settings.heartbeat + 1))
        let writes = try await stage.redis.writes()
        // What a heartbeat executes, and the message that tells it.
        let allowed = Dictionary(uniqueKeysWithValues: ["zrem", "zadd", "hset", "publish"].map { ($0, beats) })
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
        mostRounds: 3, on: [.server], equipment: crowd
    ) { stage in
        var (devices, truth, watchers) = try await stage.tenThousandWatched()
        stage.dataIsLost()
        let began = Moment.now
        try await stage.killRedis()
        try await stage.change(devices, &truth)
        try await Task.sleep(until: began + .seconds(5))
        try await stage.startRedis()
        let ended = Moment.now
        try await Task.sleep(until: ended + stage.settings.lease + .seconds(3))
        stage.judge(watchers, by: truth, from: began, ended: ended)
    }

    /// Another worker sweeps 10,000 devices. Those that reconnect in time never appear offline.
    private static let crowdedWorkerKilled = Fault(
        .worker, "killed (-9), with 10,000 devices, and 50,000 watched users on another", isHeavy: true, mostRounds: 3,
        equipment: crowd
    ) { stage in
        var (devices, truth, watchers) = try await stage.tenThousandWatched()
        let (lost, back) = (devices[..<9_800], devices[9_800...])
        for device in lost { try await device.behave(.staysAway) }
        let limit = stage.settings.lease + .seconds(2)

        stage.gone([0])
        let died = try await stage.hosts[0].kill()
        for device in lost { truth[device.user] = .offline }
        stage.read(lost.prefix(200).map(\.user))
        for device in lost.prefix(200) {
            stage.forbid(
                [.online, .away], of: device.user, .ghosts, from: died + stage.settings.lease, who: .reads)
        }
        try await stage.haveReturned(Array(back))
        try await Task.sleep(until: died + limit + .seconds(2))
        let late = back.filter { !$0.isBack(by: died + stage.settings.lease - stage.settings.heartbeat) }.map(\.user)
        stage.judge(
            watchers, by: truth, from: died, ended: died, .offline, within: limit, mayFlap: Set(late))
    }

    /// The worker subscribes to all channels and reads all users again.
    private static let crowdedSubscribersKilled = Fault(
        .redis, "CLIENT KILL TYPE pubsub, with 10,000 devices and 50,000 watched users", isHeavy: true, mostRounds: 3,
        equipment: crowd
    ) { stage in
        var (devices, truth, watchers) = try await stage.tenThousandWatched()
        let began = Moment.now
        try await stage.redis.everywhere("CLIENT", "KILL", "TYPE", "pubsub")
        try await stage.change(devices, &truth)
        let ended = Moment.now
        try await Task.sleep(until: ended + .seconds(5))
        stage.judge(watchers, by: truth, from: began, ended: ended)
    }

    /// As above, and changes during the outage are not received.
    private static let crowdedSubscribersCut = Fault(
        .network, "subscriber connections cut for 8 s, with 10,000 devices and 50,000 watched users", isHeavy: true,
        mostRounds: 3, equipment: crowd
    ) { stage in
        var (devices, truth, watchers) = try await stage.tenThousandWatched()
        let began = Moment.now
        for host in stage.hosts {
            try await host.toRedis.set(.refusing, for: .subscribers)
            try await host.toRedis.cut(.reset, .subscribers)
        }
        try await stage.change(devices, &truth)
        try await Task.sleep(until: began + .seconds(8))
        for host in stage.hosts { try await host.toRedis.set(.clear) }
        let ended = Moment.now
        for host in stage.hosts { stage.blind(host.number, from: began, to: ended) }
        try await Task.sleep(until: ended + .seconds(5))
        stage.judge(watchers, by: truth, from: began, ended: ended)
    }
}

extension Roamer {
    /// Returns whether the device's record was in Redis again by this moment, as far as the device knows.
    fileprivate func isBack(by moment: Moment) -> Bool {
        notes.contains { note in
            guard case .welcomed(let host) = note.event else { return false }
            return host != 0 && note.at + Promise.way <= moment
        }
    }
}

extension Stage {
    /// Connects 10,000 devices on the first host, and watchers on the second that watch them and 40,000 other users.
    fileprivate func tenThousandWatched() async throws -> (
        devices: [Roamer], truth: [UserID: PresenceStatus], watchers: [Roamer]
    ) {
        let devices = try await strangers(10_000)
        try await arrive(devices) { _ in 0 }
        var truth = Dictionary(uniqueKeysWithValues: devices.map { ($0.user, PresenceStatus.online) })
        for number in 0..<40_000 { truth[try UserID("nobody\(number)")] = .offline }
        return (devices, truth, try await watchers(of: truth, on: 1))
    }

    /// Some devices send `goodbye`, and some become idle.
    fileprivate func change(_ devices: [Roamer], _ truth: inout [UserID: PresenceStatus]) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for goner in devices[..<500] { group.addTask { try await goner.goodbye() } }
            for changer in devices[500..<1000] { group.addTask { try await changer.say(.state(.idle)) } }
        }
        for goner in devices[..<500] { truth[goner.user] = .offline }
        for changer in devices[500..<1000] { truth[changer.user] = .away }
    }

    /// Readers also read these users from now on.
    fileprivate func read(_ users: [UserID]) {
        state.withLockedValue { $0.users += users }
    }

    /// Connects as many sessions on a host as are needed to watch all these users.
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

    /// Checks that each watcher saw the actual statuses in time, and that nobody appeared offline after `start` who was
    /// not.
    ///
    /// - Parameter mayFlap: users who may appear offline in between.
    fileprivate func judge(
        _ watchers: [Roamer], by truth: [UserID: PresenceStatus], from start: Moment, ended: Moment,
        _ promise: Promise = .convergence, within limit: Duration = Promise.convergenceLimit,
        mayFlap: Set<UserID> = []
    ) {
        var seen: [UserID: PresenceStatus] = [:]
        var last = ended
        for note in watchers.flatMap(\.notes) {
            guard case .presence(let presence) = note.event, presence.status != seen[presence.user] else { continue }
            seen[presence.user] = presence.status
            guard note.at >= start else { continue }
            last = max(last, note.at)
            if presence.status == .offline, truth[presence.user] != .offline, !mayFlap.contains(presence.user) {
                found(.steadiness, broken: "\(presence.user) is offline after \((note.at - start).short)")
            }
        }
        let wrong = truth.filter { seen[$0.key] != $0.value }
        let took = last - ended
        let broken = wrong.first.map { "\(wrong.count) users are wrong, such as \($0.key)" }
        found(
            promise, took: took, limit: limit,
            broken: broken ?? (took > limit ? "the last change came after \(took.short)" : nil))
    }
}
