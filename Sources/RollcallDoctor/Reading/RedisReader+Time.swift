// Redis's latency, slow commands and clock.

import RollcallModel
import RollcallRedis
import RollcallShards

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension RedisReader {
    private static let pings = 100
    /// The time limit for all pings, so that a distant Redis gets fewer.
    private static let pingTime = Duration.seconds(2)

    /// Measures sequential `PING` round trips.
    func roundTrips() async -> Reading<[Duration]> {
        var taken: [Duration] = []
        let clock = ContinuousClock()
        let end = clock.now + Self.pingTime
        while taken.count < Self.pings, clock.now < end || taken.isEmpty {
            let start = clock.now
            let answer = await visit.ask("PING").reading(right: "ping") { $0 }
            if case .failure(let unread) = answer { return .failure(unread) }
            taken.append(clock.now - start)
        }
        return .success(taken)
    }

    /// Returns the slow commands in Redis's log. Only the command names are kept.
    func slowCommands(at time: Timestamp) async -> Reading<[RedisReadings.SlowCommand]> {
        await visit.ask("SLOWLOG", "GET", "128").reading(right: "slowlog|get") { value in
            value.array?.compactMap { entry in
                guard let parts = entry.array, parts.count >= 4, let at = parts[1].integer, let took = parts[2].integer,
                    let name = parts[3].array?.first?.string
                else { return nil }
                return RedisReadings.SlowCommand(
                    name: name.uppercased(), took: .microseconds(took),
                    ago: time.since(Timestamp(milliseconds: at.multipliedReportingOverflow(by: 1000).partialValue)))
            }
        }
    }

    /// Returns Redis's time and its difference to this host's clock. Of several readings, the one with the shortest
    /// round trip counts.
    func clock() async -> (Timestamp, Reading<RedisReadings.Clock>) {
        var time = Self.now
        var best: Reading<RedisReadings.Clock>?
        for _ in 0..<5 {
            let reading = await clockOnce()
            guard case .success(let once) = reading else { return (time, best ?? reading.map(\.clock)) }
            time = once.time
            if once.clock.uncertainty < best?.value?.uncertainty ?? .seconds(3600) { best = .success(once.clock) }
        }
        return (time, best ?? .failure(.failed("no reply from Redis")))
    }

    private func clockOnce() async -> Reading<(time: Timestamp, clock: RedisReadings.Clock)> {
        let (wall, start) = (Self.now, ContinuousClock.now)
        let reply = await visit.ask("TIME").reading(right: "time") { value -> Timestamp? in
            Timestamp(redisTime: value)
        }
        let half = (ContinuousClock.now - start) / 2
        return reply.map { time in
            (time, RedisReadings.Clock(ahead: time.since(wall) - half, uncertainty: half + .milliseconds(1)))
        }
    }

    private static var now: Timestamp {
        Timestamp(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1000))
    }

    /// Reads the clocks of Redis's replicas, each of which may become the primary. The connections use the primary's
    /// password. So if Redis is reached on this machine, possibly through a tunnel, only replicas on this machine are
    /// asked: another address may belong to a different server from here.
    func replicaClocks(_ info: RedisInfo?) async -> [String: Reading<RedisReadings.Clock>] {
        var clocks: [String: Reading<RedisReadings.Clock>] = [:]
        let replicas = info?.replicas.filter { !place.deployment.isHere || Loopback.contains($0.host) }
        for replica in replicas?.prefix(5) ?? [] {
            clocks["\(replica.host):\(replica.port)"] = await clock(
                at: place.server(at: .host(replica.host, port: replica.port)))
        }
        return clocks
    }

    private func clock(at place: RedisPlace) async -> Reading<RedisReadings.Clock> {
        // The replica's address may not be reachable from here.
        guard let visit = try? await place.visit() else { return .failure(.failed("it cannot be reached")) }
        let clock = await RedisReader(visit: visit, place: place, names: names).clock().1
        await visit.close()
        return clock
    }
}
