// What is thought of the sentinels: whether they are there, of one mind, and enough.

import RollcallRedis

/// Judges the sentinels of a deployment.
struct SentinelCheck {
    /// By what name they know the primary.
    let name: String
    let readings: [SentinelReading]

    /// With two, neither has a majority when the other is gone.
    private static let fewest = 3

    var finding: Finding {
        let primaries = Set(readings.compactMap(\.primary))
        if primaries.count > 1 {
            let told = readings.compactMap { reading in reading.primary.map { "\(reading.place) names \($0)" } }
            return Finding(
                .sentinels, .failure, "they are not of one mind: \(told.joined(separator: ", "))",
                advice: "within seconds of a failover they may; else look whether they reach each other")
        }
        guard let primary = primaries.first else { return silent }
        if let refusal = readings.lazy.compactMap(\.noQuorum).first {
            return Finding(
                .sentinels, .failure, "they could not agree on a failover: \(refusal)",
                advice: "start those that are away, or set a quorum that can be reached (SENTINEL SET \(name) quorum N)"
            )
        }
        let verb = known.hasPrefix("1 ") ? "knows" : "know"
        return lacks(primary)
            ?? Finding(.sentinels, .ok, "\(known) \(verb) the primary \(name) at \(primary)\(replicas)")
    }

    /// What works, and would not survive the next loss.
    private func lacks(_ primary: String) -> Finding? {
        let away = readings.filter { $0.primary == nil }
        if let one = away.first, case .failure(let unread) = one.facts {
            return Finding(
                .sentinels, .warning,
                "\(away.count) of \(readings.count) in redis.url do not say where the primary is: \(one.place) "
                    + "(\(unread.sentence))",
                advice: "start them, or name those that there are in redis.url")
        }
        if let count, count < Self.fewest {
            return Finding(
                .sentinels, .warning, "\(known): where one is lost, nobody may fail over",
                advice: "run three or more, on hosts of their own")
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
            .sentinels, .failure, "none says where the primary \(name) is: \(reasons.joined(separator: ", "))",
            advice: "start them, set redis.url to where they are, and the name to what sentinel.conf calls it")
    }

    private var known: String { Amount.count(count ?? readings.count, "sentinel") }

    /// How many there are, those included that the configuration does not name.
    private var count: Int? { fact("num-other-sentinels").map { $0 + 1 } }

    private var replicas: String {
        fact("num-slaves").map { ", with \(Amount.count($0, "replica"))" } ?? ""
    }

    /// The least that any of them knows.
    private func fact(_ name: String) -> Int? {
        readings.compactMap { $0.facts.value?[name].flatMap { Int($0) } }.min()
    }
}

extension SentinelCheck {
    /// Asks those of a place; `nil` where it has none.
    init?(of place: RedisPlace) async {
        guard case .sentinel(let sentinels, name: let name) = place.deployment.topology else { return nil }
        var readings: [SentinelReading] = []
        for sentinel in sentinels.prefix(16) {
            readings.append(await SentinelReading.of(sentinel, name: name, from: place))
        }
        self.init(name: name, readings: readings)
    }
}
