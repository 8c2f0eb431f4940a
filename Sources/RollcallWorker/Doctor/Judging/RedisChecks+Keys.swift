// What stands in a Redis, and whose it is.

import RollcallRedis

extension RedisChecks {
    var keys: Finding {
        readings.keys.judged(.keys) { sample in
            let others = sample.seen - sample.ours
            let kinds = KeyKind.allCases.compactMap { kind in sample.counts[kind].map { "\($0) \(kind.rawValue)" } }
            let ours = kinds.isEmpty ? "none of Rollcall's" : kinds.joined(separator: ", ")
            let rest = others > 0 ? ", \(others) of others" : ""
            let whole = sample.seen >= sample.total
            let seen = whole ? "" : "; \(sample.seen) of \(sample.total) were looked at"
            return Finding(.keys, .ok, "\(Amount.count(sample.total, "key")): \(ours)\(rest)\(seen)")
        }
    }

    var foreignKeys: Finding {
        readings.keys.flatMap(\.foreign).judged(.foreignKeys) { foreign in
            guard let first = foreign.first else {
                return Finding(.foreignKeys, .ok, "nobody else's key has a name of Rollcall's")
            }
            let count = Amount.count(foreign.count, "key has", "keys have")
            return Finding(
                .foreignKeys, .failure,
                "\(count) a name of Rollcall's and another type, such as \(first.key), a \(first.type): whoever it "
                    + "stands for is offline for everybody",
                advice: "find out who writes it, and give Rollcall names of its own with redis.prefix")
        }
    }

    var databases: Finding {
        readings.neighbours.judged(.databases) { neighbours in
            let own = "database \(needs.database)"
            if !neighbours.isEmpty {
                let list = neighbours.map(String.init).joined(separator: ", ")
                return Finding(
                    .databases, .failure,
                    "\(own), and there are workers with the same names in database \(list): channels know no "
                        + "databases, so the two systems hear each other",
                    advice: "give one of them a redis.prefix of its own")
            }
            let others = (readings.info.value?.databases ?? [:]).filter { $0.key != needs.database }
            guard !others.isEmpty else { return Finding(.databases, .ok, own + ", the only one with keys") }
            let list = others.sorted { $0.key < $1.key }.prefix(4).map {
                "\(Amount.count($0.value, "key")) in \($0.key)"
            }
            return Finding(
                .databases, .ok, "\(own); others have \(list.joined(separator: ", ")), but no workers of these names")
        }
    }
}
