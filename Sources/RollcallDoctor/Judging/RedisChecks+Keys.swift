// The keys in Redis, and which program they belong to.

import RollcallRedis

extension RedisChecks {
    var keys: Finding {
        readings.keys.judged(.keys) { sample in
            let others = sample.seen - sample.ours
            let kinds = KeyKind.allCases.compactMap { kind in sample.counts[kind].map { "\($0) \(kind.rawValue)" } }
            let ours = kinds.isEmpty ? "none of Rollcall's" : kinds.joined(separator: ", ")
            let rest = others > 0 ? ", \(others) of others" : ""
            let whole = sample.seen >= sample.total
            let seen = whole ? "" : "; \(sample.seen) of \(sample.total) were checked"
            return Finding(.keys, .ok, "\(Amount.count(sample.total, "key")): \(ours)\(rest)\(seen)")
        }
    }

    var foreignKeys: Finding {
        readings.keys.flatMap(\.foreign).judged(.foreignKeys) { foreign in
            guard let first = foreign.first else {
                return Finding(.foreignKeys, .ok, "no other program's key has one of Rollcall's names")
            }
            let count = Amount.count(foreign.count, "key has", "keys have")
            return Finding(
                .foreignKeys, .failure,
                "\(count) one of Rollcall's names and another type, such as \(first.key), a \(first.type): its user "
                    + "is offline for everyone",
                advice: "find the program that writes it, and give Rollcall's keys another prefix with redis.prefix")
        }
    }

    var databases: Finding {
        readings.neighbours.judged(.databases) { neighbours in
            let own = "database \(needs.database)"
            if !neighbours.isEmpty {
                let list = neighbours.map(String.init).joined(separator: ", ")
                return Finding(
                    .databases, .failure,
                    "\(own), and there are workers with the same names in database \(list): channels ignore "
                        + "databases, so the two systems receive each other's messages",
                    advice: "give one of them a different redis.prefix")
            }
            let others = (readings.info.value?.databases ?? [:]).filter { $0.key != needs.database }
            guard !others.isEmpty else { return Finding(.databases, .ok, own + ", the only one with keys") }
            let list = others.sorted { $0.key < $1.key }.prefix(4).map {
                "\(Amount.count($0.value, "key")) in \($0.key)"
            }
            return Finding(
                .databases, .ok, "\(own); others have \(list.joined(separator: ", ")), but no workers with these names")
        }
    }
}
