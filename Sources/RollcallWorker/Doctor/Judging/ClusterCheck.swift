// What is thought of a cluster: whether it serves all slots, and would after the next loss. What is thought of each of its
// primaries is told together, as far as it is the same.

import RollcallRedis

/// Judges a cluster.
struct ClusterCheck {
    let reading: Reading<ClusterReading>

    private static let slots = 16_384
    /// With two, neither can tell whether it or the other is the one that is cut off.
    private static let fewest = 3

    var finding: Finding {
        reading.judged(.cluster) { reading in
            let count = Amount.count(reading.primaries.count, "primary", "primaries")
            let served = Int(reading.facts["cluster_slots_ok"] ?? "") ?? 0
            guard reading.facts["cluster_state"] == "ok", served == Self.slots else {
                return Finding(
                    .cluster, .failure, "\(count), of which \(served) of \(Self.slots) slots are served",
                    advice:
                        "see what it lacks (redis-cli --cluster check HOST:PORT); during a failover, look again soon")
            }
            if reading.primaries.count < Self.fewest {
                return Finding(
                    .cluster, .warning, "\(count), too few to agree on a failover",
                    advice: "run three or more, on hosts of their own")
            }
            if let one = reading.lone.first {
                return Finding(
                    .cluster, .warning, "\(count), of which \(one) has no replica that could take its place",
                    advice: "add one: redis-cli --cluster add-node HOST:PORT \(one) --cluster-slave")
            }
            return Finding(.cluster, .ok, "\(count) serve all slots, each with a replica")
        }
    }

    /// What is thought of all primaries: each check once where all are well, else once for each that is not; and the keys
    /// of each.
    static func together(_ findings: [(place: String, findings: [Finding])]) -> [Finding] {
        Check.allCases.flatMap { check -> [Finding] in
            let all = findings.flatMap { place, findings in
                findings.filter { $0.check == check }.map { (place: place, finding: $0) }
            }
            let worse = all.filter { $0.finding.verdict != .ok || check == .keys }
            guard let worst = worse.map(\.finding.verdict).max() else { return all.prefix(1).map(\.finding) }
            // That something could not be looked at is the same everywhere.
            guard worst != .skipped else { return worse.prefix(1).map(\.finding) }
            return worse.filter { $0.finding.verdict != .skipped }.map { place, finding in
                var finding = finding
                finding.found = "\(place): \(finding.found)"
                return finding
            }
        }
    }
}
