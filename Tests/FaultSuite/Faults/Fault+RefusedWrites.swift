// Redis answers reads and refuses writes for minutes while devices connect and disconnect. Users who stay connected
// must not disappear, and devices that have left must cost neither memory nor writes once Redis accepts writes again.

internal import Foundation
internal import Harness
internal import NIOConcurrencyHelpers
internal import RollcallClient
internal import TestSupport

extension Fault {
    static let refusedWritesFaults = [noReplicas, cannotSave, nodeAbsent, nodeAbsentForItsSlots, leasesAbsent]

    private static let noReplicas = refusedWrites("refuses writes (NOREPLICAS) for 2 min, devices come and go") {
        stage in
        try await stage.redis.cli("CONFIG", "SET", "min-replicas-to-write", "1")
        return []
    } end: { stage in
        try await stage.redis.cli("CONFIG", "SET", "min-replicas-to-write", "0")
    }

    private static let cannotSave = refusedWrites("refuses writes (MISCONF) for 2 min, devices come and go") { stage in
        let redis = stage.redis
        try await redis.cli("CONFIG", "SET", "save", "3600 100000000")
        // Saving a snapshot fails, because its path is a directory.
        try FileManager.default.createDirectory(
            at: redis.whole.folder.appending(path: "dump.rdb/inside"), withIntermediateDirectories: true)
        try await redis.cli("BGSAVE")
        try await eventually("Redis refuses writes") { try await redis.cli("SET", "probe", "1").contains("MISCONF") }
        return []
    } end: { stage in
        try await stage.redis.cli("CONFIG", "SET", "stop-writes-on-bgsave-error", "no")
    }

    /// All nodes refuse all commands.
    private static let nodeAbsent = absent("a primary and its replica absent for 2 min, devices come and go") { set in
        try await set.primaryWithoutLeases()
    }

    /// The other nodes still serve their slots, so the leases are renewed.
    private static let nodeAbsentForItsSlots = absent(
        "a primary and its replica absent for 2 min, without full coverage, devices come and go", isCovered: false
    ) { set in
        try await set.primaryWithoutLeases()
    }

    private static let leasesAbsent = absent(
        "primary of the leases and its replica absent for 2 min, without full coverage, devices come and go",
        isCovered: false
    ) { set in
        try await set.primary(of: RedisClusterSet.leases)
    }

    /// - Parameter isCovered: whether all nodes refuse commands while one primary is absent.
    private static func absent(
        _ name: String, isCovered: Bool = true,
        _ primary: @escaping @Sendable (RedisClusterSet) async throws -> RedisServer
    ) -> Fault {
        refusedWrites("Cluster: \(name)", on: [.cluster]) { stage in
            let set = stage.cluster
            if !isCovered {
                for server in set.servers {
                    try await server.cli("CONFIG", "SET", "cluster-require-full-coverage", "no")
                }
            }
            let primary = try await primary(set)
            let servers = [try await set.replica(of: primary), primary]
            for server in servers { server.process.signal(SIGSTOP) }
            return servers
        } end: { stage in
            for server in stage.cluster.servers { server.process.signal(SIGCONT) }
            try await stage.cluster.settled(stage.cluster.servers.count)
        }
    }

    /// The time until a worker's memory for devices that have left reaches its usual size.
    private static let warmUp = Duration.seconds(30)
    private static let span = Duration.seconds(120)
    /// How much a worker may grow for each device that connected and left. A session takes more than ten times as much.
    private static let mostBytesPerVisit = 200.0

    /// - Parameters:
    ///   - begin: makes Redis refuse writes. Returns the servers that are suspended.
    ///   - end: lets Redis accept writes again.
    private static func refusedWrites(
        _ name: String, on grounds: Set<TestRedis.Kind> = [.server],
        begin: @escaping @Sendable (Stage) async throws -> [RedisServer],
        end: @escaping @Sendable (Stage) async throws -> Void
    ) -> Fault {
        Fault(.redis, name, mostRounds: 3, on: grounds) { stage in
            let crowd = try await stage.strangers(30)
            let servers = try await stage.redis.whole.primaries()
            var visits = 0
            var memory: [Double] = []
            var before: [[String: Int]] = []
            try await stage.outage {
                before = try await stage.redis.calls(at: servers)
                return try await begin(stage)
            } end: { still in
                let began = Moment.now
                while Moment.now < began + warmUp { _ = try await stage.comeAndGo(crowd) }
                memory.append(try stage.residentBytes())
                while Moment.now < began + span { visits += try await stage.comeAndGo(crowd) }
                memory.append(try stage.residentBytes())
                for (place, server) in servers.enumerated() where !still.contains(where: { $0 === server }) {
                    before[place] = try await stage.redis.calls(at: [server])[0]
                }
                try await end(stage)
            }
            try await Task.sleep(for: stage.settings.lease + .seconds(3))
            let after = try await stage.redis.calls(at: servers)
            let present = try await stage.presentDevices()
            // Heartbeats use neither HSET nor SADD. A record is written with two HSET; the stage itself sets a few
            // members with others. Sessions are listed with SADD. Writes in flight when a server was suspended may have
            // taken effect, so the records of those devices must be removed.
            let owed = stage.redis.whole.cluster == nil ? 0 : visits / 20
            for (command, what, most) in [
                ("hset", "HSET of records", 7 * present + 2 * owed), ("sadd", "lists of sessions written", 2 * present),
            ] {
                let calls = zip(after, before).map { ($0[command] ?? 0) - ($1[command] ?? 0) }.reduce(0, +)
                stage.figure("\(what) at recovery", Double(calls))
                let broken = "\(what) at recovery: \(calls), with \(present) devices present and \(visits) gone"
                stage.found(.other, broken: calls > most ? broken : nil)
            }
            stage.figure("devices present at recovery", Double(present))
            stage.figure("devices that came and went", Double(visits))
            let bytes = (memory[1] - memory[0]) / (Double(visits) / Double(stage.hosts.count))
            stage.figure("bytes that a worker grew by, for each of its devices that came and went", max(0, bytes))
            stage.found(.other, broken: bytes > mostBytesPerVisit ? "a worker grew by \(bytes) bytes a visit" : nil)
        }
    }
}

extension Stage {
    fileprivate var cluster: RedisClusterSet {
        guard let set = redis.whole.cluster else { preconditionFailure("the stage has what it was equipped with") }
        return set
    }

    /// Each of these devices connects to a host, types, and sends `goodbye`.
    ///
    /// - Returns: how many were welcomed. The diaries of the others show why they were not.
    fileprivate func comeAndGo(_ crowd: [Roamer]) async throws -> Int {
        let visits = await withTaskGroup(of: Int.self) { group in
            for (number, device) in crowd.enumerated() {
                group.addTask {
                    do { try await device.come(to: number % self.hosts.count, until: .welcomed) } catch { return 0 }
                    _ = try? await device.say(.join("lobby", presence: false))
                    _ = try? await device.say(.typing("lobby", true))
                    try? await device.goodbye()
                    return 1
                }
            }
            return await group.reduce(0, +)
        }
        try await Task.sleep(for: .milliseconds(100))
        return visits
    }

    /// Returns how many devices are connected.
    fileprivate func presentDevices() async throws -> Int {
        var count = observers.count
        for roamer in state.withLockedValue({ $0.roamers }) where try await roamer.whereabouts() != nil { count += 1 }
        return count
    }

    /// Returns the largest resident memory of the workers, in bytes.
    fileprivate func residentBytes() throws -> Double {
        try hosts.map { host in
            let status = try String(contentsOfFile: "/proc/\(host.worker.process.pid)/status", encoding: .utf8)
            let kibibytes = status.firstMatch(of: #/VmRSS:\s+(\d+)/#).flatMap { Double($0.1) } ?? 0
            return kibibytes * 1024
        }.max() ?? 0
    }
}

extension RedisClusterSet {
    fileprivate static let leases = "{workers}"

    /// Returns a primary that does not hold the leases.
    fileprivate func primaryWithoutLeases() async throws -> RedisServer {
        let leases = try await primary(of: Self.leases)
        guard let other = try await primaries().first(where: { $0 !== leases }) else {
            throw Timeout(description: "no other primary")
        }
        return other
    }
}
