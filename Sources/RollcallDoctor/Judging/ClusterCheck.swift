// Judges a cluster: whether it serves all slots, and would still do so after losing a primary. Equal findings about its
// primaries are combined.

import RollcallRedis

/// Judges a cluster.
struct ClusterCheck {
    let reading: Reading<ClusterReading>

    private static let slots = 16_384
    /// With two primaries, neither can tell which one is disconnected.
    private static let fewest = 3

    var finding: Finding {
        reading.judged(.cluster) { reading in
            let count = Amount.count(reading.primaries.count, "primary", "primaries")
            let served = Int(reading.facts["cluster_slots_ok"] ?? "") ?? 0
            guard reading.facts["cluster_state"] == "ok", served == Self.slots else {
                return Finding(
                    .cluster, .failure, "\(count), of which \(served) of \(Self.slots) slots are served",
                    advice:
                        "find the cause (redis-cli --cluster check HOST:PORT); during a failover, check again soon")
            }
            if reading.primaries.count < Self.fewest {
                return Finding(
                    .cluster, .warning, "\(count), too few to agree on a failover",
                    advice: "run three or more, on separate hosts")
            }
            if let one = reading.lone.first {
                return Finding(
                    .cluster, .warning, "\(count), of which \(one) has no replica that could take its place",
                    advice: "add one: redis-cli --cluster add-node HOST:PORT \(one) --cluster-slave")
            }
            return Finding(.cluster, .ok, "\(count) serve all slots, each with a replica")
        }
    }

    /// Combines the findings of all primaries: a check that passes everywhere appears once, otherwise once per failing
    /// primary. Key counts appear per primary.
    static func together(_ findings: [(place: String, findings: [Finding])]) -> [Finding] {
        Check.allCases.flatMap { check -> [Finding] in
            let all = findings.flatMap { place, findings in
                findings.filter { $0.check == check }.map { (place: place, finding: $0) }
            }
            let worse = all.filter { $0.finding.verdict != .ok || check == .keys }
            guard let worst = worse.map(\.finding.verdict).max() else { return all.prefix(1).map(\.finding) }
            // A skipped check is skipped for the same reason everywhere.
            guard worst != .skipped else { return worse.prefix(1).map(\.finding) }
            return worse.filter { $0.finding.verdict != .skipped }.map { place, finding in
                var finding = finding
                finding.found = "\(place): \(finding.found)"
                return finding
            }
        }
    }
}
