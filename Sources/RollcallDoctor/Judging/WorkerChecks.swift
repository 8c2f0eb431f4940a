// Judges the workers by their leases in Redis.

import RollcallModel
import RollcallRedis
import RollcallShards

/// Judges the workers that Redis lists.
struct WorkerChecks {
    let readings: RedisReadings

    var findings: [Finding] { [leases, versions] }

    /// How long live workers may take to sweep a dead one: longer than a lease.
    private static let sweepTime = Duration.seconds(30)

    private var leases: Finding {
        readings.workers.judged(.workers) { workers in
            let dead = workers.filter { $0.leaseEnd < readings.time }
            let alive = workers.count - dead.count
            let found = "\(alive) alive" + (dead.isEmpty ? "" : ", \(dead.count) dead and not swept")
            guard let oldest = dead.min(by: { $0.leaseEnd < $1.leaseEnd }) else {
                return Finding(.workers, .ok, workers.isEmpty ? "none yet" : found)
            }
            let ago = readings.time.since(oldest.leaseEnd)
            if alive == 0 {
                return Finding(
                    .workers, .warning, "\(found), for up to \(ago.spoken): no live worker is left to sweep them",
                    advice: "start a worker: it sweeps them after holding its lease for one lease time")
            }
            guard ago > Self.sweepTime else { return Finding(.workers, .ok, found + " yet") }
            return Finding(
                .workers, .warning, "\(found), \(oldest.incarnation) for \(ago.spoken)",
                advice: "check the workers' logs: a worker sweeps dead ones after holding its lease for one lease time")
        }
    }

    private var versions: Finding {
        readings.workers.judged(.versions) { workers in
            let alive = workers.filter { $0.leaseEnd >= readings.time }
            let formats = Set(alive.compactMap { $0.facts["format"] }).sorted()
            let versions = Set(alive.compactMap { $0.facts["version"] }).sorted()
            if formats.contains(where: { $0 != "\(Heartbeat.format)" }) {
                return Finding(
                    .versions, .warning,
                    "there are workers with key formats \(formats.joined(separator: " and ")), "
                        + "and this version knows only format \(Heartbeat.format)",
                    advice: "use the doctor of the newest version")
            }
            let own = RollcallVersion.current
            if versions.isEmpty || versions == [own] { return Finding(.versions, .ok, "\(own), like this program") }
            return Finding(
                .versions, versions.count > 1 ? .warning : .ok,
                "\(versions.joined(separator: " and ")); this program is \(own)",
                advice: versions.count > 1 ? "finish the upgrade: run different versions only during it" : nil)
        }
    }
}
