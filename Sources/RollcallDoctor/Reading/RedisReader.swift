// Reads what the Redis user may read. It writes nothing, runs no scripts, and runs no command that is slow on a large
// Redis.

import NIOCore
import RollcallModel
import RollcallRedis

/// Reads one Redis.
struct RedisReader {
    let visit: RedisVisit
    let place: RedisPlace
    let names: KeyNames

    func read() async -> RedisReadings {
        let info = await info()
        let (time, clock) = await clock()
        let refusesWrites = await refusesWrites(info.value)
        return RedisReadings(
            user: place.deployment.username ?? "default", info: info, refusesWrites: refusesWrites,
            settings: await settings(), shortfall: await shortfall(refusesWrites),
            roundTrips: await roundTrips(),
            slowCommands: await slowCommands(at: time), clock: clock, replicaClocks: await replicaClocks(info.value),
            time: time, workers: await workers(), keys: await keys(), neighbours: await neighbours(info.value, at: time)
        )
    }

    private func info() async -> Reading<RedisInfo> {
        await visit.ask("INFO").reading(right: "info") { $0.string.map(RedisInfo.init) }
    }

    /// Reads settings one by one, because a list of names in one command needs Redis 7.
    private func settings() async -> Reading<[String: String]> {
        let names = ["client-output-buffer-limit", "maxclients", "maxmemory-policy", "save", "disable-thp"]
        let replies = await visit.ask(names.map { RedisCommand("CONFIG", "GET", .string($0)) })
        var settings: [String: String] = [:]
        for reply in replies {
            switch reply.reading(right: "config|get", { $0.array?.compactMap(\.string) }) {
            case .success(let pair) where pair.count == 2: settings[pair[0]] = pair[1]
            case .success: break
            case .failure(let unread): return .failure(unread)
            }
        }
        return .success(settings)
    }

    /// Whether this is a replica. If `INFO` is not permitted, a queued write shows it; the transaction is discarded, so
    /// it changes nothing. It has its own connection, which is closed afterwards.
    private func refusesWrites(_ info: RedisInfo?) async -> Bool {
        if let info { return info["role"] == "slave" }
        guard let visit = try? await place.visit() else {
            return false
        }
        let answers = await visit.ask([
            RedisCommand("MULTI"), RedisCommand("ZREM", .string(names.workers), ""), RedisCommand("DISCARD"),
        ])
        await visit.close()
        guard case .failure(let error) = answers[1] else { return false }
        return error.code == .server(kind: "READONLY")
    }

    /// A replica refuses writes before it checks rights.
    private func shortfall(_ refusesWrites: Bool) async -> Reading<Shortfall> {
        if refusesWrites { return .failure(.failed("a replica does not report it")) }
        do {
            let shortfall = RightsCheck.shortfall(
                at: place.route, names: names, ofCluster: place.isOfCluster, on: place.eventLoop,
                within: place.timeout, logger: place.logger)
            return .success(try await shortfall.get())
        } catch {
            return .failure(.failed((error as? RedisError)?.sentence ?? "\(error)"))
        }
    }
}

// MARK: Workers and databases

extension RedisReader {
    /// The workers with the latest leases; more than any deployment has.
    private static let mostWorkers = 500

    private func workers() async -> Reading<[RedisReadings.Worker]> {
        let reply = await visit.ask("ZREVRANGE", names.workers, "0", "\(Self.mostWorkers - 1)", "WITHSCORES")
        switch reply.reading(right: "zrevrange", { $0.array }) {
        case .success(let parts): return .success(await workers(parts))
        case .failure(let unread): return .failure(unread)
        }
    }

    private func workers(_ parts: [RedisValue]) async -> [RedisReadings.Worker] {
        let leases = stride(from: 0, to: parts.count - 1, by: 2).compactMap { index -> (String, Timestamp)? in
            guard let name = parts[index].string, let end = parts[index + 1].integer else { return nil }
            return (name, Timestamp(milliseconds: end))
        }
        let hashes = await visit.ask(
            leases.map { RedisCommand("HGETALL", .string(names.worker(Incarnation(name: $0.0)))) })
        return zip(leases, hashes).map { lease, hash in
            let texts = (try? hash.get())?.array?.map { $0.string ?? "" } ?? []
            let pairs = stride(from: 0, to: texts.count - 1, by: 2).map { (texts[$0], texts[$0 + 1]) }
            return RedisReadings.Worker(
                incarnation: lease.0, leaseEnd: lease.1, facts: Dictionary(pairs) { first, _ in first })
        }
    }

    /// Channels ignore databases: a live worker with the same names in another database receives all messages.
    private func neighbours(_ info: RedisInfo?, at time: Timestamp?) async -> Reading<[Int]> {
        guard let info else { return .failure(.denied(.command("info"))) }
        var found: [Int] = []
        for database in info.databases.keys.sorted().prefix(64) where database != place.deployment.database {
            let answers = await visit.ask([
                RedisCommand("SELECT", .integer(Int64(database))),
                RedisCommand("ZCOUNT", .string(names.workers), .integer(time?.milliseconds ?? 0), .string("+inf")),
                RedisCommand("SELECT", .integer(Int64(place.deployment.database))),
            ])
            // If the first `SELECT` was refused, the count is of our own database.
            guard case .success = answers[0] else { continue }
            if (try? answers[1].get())?.integer ?? 0 > 0 { found.append(database) }
        }
        return .success(found)
    }
}

// MARK: Keys

extension RedisReader {
    private static let mostSteps = 20
    private static let keysPerStep = 500

    /// `SCAN` instead of `KEYS`, which would block Redis.
    private func keys() async -> Reading<KeySample> {
        let size = await visit.ask("DBSIZE").reading(right: "dbsize") { $0.integer }
        var sample = KeySample(total: Int(size.value ?? 0))
        var cursor = "0"
        for _ in 0..<Self.mostSteps {
            let step = await visit.ask("SCAN", cursor, "COUNT", "\(Self.keysPerStep)")
            switch step.reading(right: "scan", Self.page) {
            case .success(let page):
                sample.saw(page.keys, names)
                cursor = page.cursor
            case .failure(let unread): return .failure(unread)
            }
            if cursor == "0" { break }
        }
        let types = await visit.ask(sample.examples.map { RedisCommand("TYPE", .string($0.key)) })
        sample.learnt(types.map { $0.reading(right: "type", \.string) })
        return .success(sample)
    }

    private static func page(_ value: RedisValue) -> (cursor: String, keys: [String?])? {
        guard let parts = value.array, parts.count == 2, let cursor = parts[0].string, let keys = parts[1].array else {
            return nil
        }
        return (cursor, keys.map(\.string))
    }
}
