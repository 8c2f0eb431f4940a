// Judges the sentinels: whether they answer, agree, and are enough.

import RollcallRedis

/// Judges the sentinels of a deployment.
struct SentinelCheck {
    /// The name of the primary in the sentinels' configuration.
    let name: String
    let readings: [SentinelReading]

    /// With two, neither has a majority when the other is down.
    private static let fewest = 3

    var finding: Finding {
        let primaries = Set(readings.compactMap(\.primary))
        if primaries.count > 1 {
            let told = readings.compactMap { reading in reading.primary.map { "\(reading.place) names \($0)" } }
            return Finding(
                .sentinels, .failure, "they disagree: \(told.joined(separator: ", "))",
                advice: "normal for seconds after a failover; otherwise check whether they reach each other")
        }
        guard let primary = primaries.first else { return silent }
        if let refusal = readings.lazy.compactMap(\.noQuorum).first {
            return Finding(
                .sentinels, .failure, "they could not agree on a failover: \(refusal)",
                advice: "start those that are down, or set a quorum that can be reached (SENTINEL SET \(name) quorum N)"
            )
        }
        let verb = known.hasPrefix("1 ") ? "knows" : "know"
        return lacks(primary)
            ?? Finding(.sentinels, .ok, "\(known) \(verb) the primary \(name) at \(primary)\(replicas)")
    }

    /// A problem that does no harm until the next failure.
    private func lacks(_ primary: String) -> Finding? {
        let away = readings.filter { $0.primary == nil }
        if let one = away.first, case .failure(let unread) = one.facts {
            return Finding(
                .sentinels, .warning,
                "\(away.count) of \(readings.count) in redis.url do not name the primary: \(one.place) "
                    + "(\(unread.sentence))",
                advice: "start them, or correct the list in redis.url")
        }
        if let count, count < Self.fewest {
            return Finding(
                .sentinels, .warning, "\(known): if one is lost, no failover is possible",
                advice: "run three or more, on separate hosts")
        }
        guard let known = fact("num-slaves"), known == 0 else { return nil }
        return Finding(
            .sentinels, .warning, "the primary \(name) at \(primary) has no replica that could take its place",
            advice: "start one: replicaof \(primary.replacing(":", with: " "))")
    }

    private var silent: Finding {
        let reasons = readings.map { reading in
            guard case .failure(let unread) = reading.facts else { return "\(reading.place) knows no \(name)" }
            return "\(reading.place) (\(unread.sentence))"
        }
        return Finding(
            .sentinels, .failure, "none names the primary \(name): \(reasons.joined(separator: ", "))",
            advice: "start them, set redis.url to their addresses, and use the name in sentinel.conf")
    }

    private var known: String { Amount.count(count ?? readings.count, "sentinel") }

    /// The number of sentinels, including those that the configuration does not name.
    private var count: Int? { fact("num-other-sentinels").map { min($0, Int.max - 1) + 1 } }

    private var replicas: String {
        fact("num-slaves").map { ", with \(Amount.count($0, "replica"))" } ?? ""
    }

    /// The smallest number that any sentinel reports.
    private func fact(_ name: String) -> Int? {
        readings.compactMap { $0.facts.value?[name].flatMap { Int($0) } }.min()
    }
}

extension SentinelCheck {
    /// Asks the sentinels of a place; `nil` if it has none.
    init?(of place: RedisPlace) async {
        guard case .sentinel(let sentinels, name: let name) = place.deployment.topology else { return nil }
        var readings: [SentinelReading] = []
        for sentinel in sentinels.prefix(16) {
            readings.append(await SentinelReading.of(sentinel, name: name, from: place))
        }
        self.init(name: name, readings: readings)
    }
}
