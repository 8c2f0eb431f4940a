// Redis's memory, eviction and persistence.

import RollcallRedis

extension RedisChecks {
    var memory: Finding {
        readings.info.judged(.memory) { info in
            guard let used = info.number("used_memory"), let most = info.number("maxmemory") else {
                return Finding(.memory, .skipped, "Redis does not report its memory")
            }
            guard most > 0 else { return unlimited(used, info) }
            let found = "\(Amount.bytes(used)) of \(Amount.bytes(most)) used (maxmemory)"
            let share = Double(used) / Double(most)
            guard share >= 0.8 else { return Finding(.memory, .ok, found) }
            return Finding(
                .memory, share >= 1 ? .failure : .warning,
                share >= 1 ? found + ": writes of new data are refused" : found,
                advice: "raise maxmemory, or shorten presence.retention: two kilobytes per user are enough")
        }
    }

    /// Without a limit in Redis, the kernel kills Redis when the machine's memory is full.
    private func unlimited(_ used: Int, _ info: RedisInfo) -> Finding {
        let found = "\(Amount.bytes(used)) used, without a limit (maxmemory)"
        let taken = max(used, info.number("used_memory_rss") ?? 0)
        guard let machine = info.number("total_system_memory"), machine > 0, taken >= machine / 5 * 4 else {
            return Finding(.memory, .ok, found)
        }
        return Finding(
            .memory, .warning,
            found + ", of \(Amount.bytes(machine)) that its machine has: when that is full, the "
                + "kernel kills Redis",
            advice: "set maxmemory to what Redis may use there, with noeviction, or add memory")
    }

    var eviction: Finding {
        let policy = readings.info.map { $0["maxmemory_policy"] ?? readings.settings.value?["maxmemory-policy"] }
        return policy.judged(.eviction) { policy in
            guard let policy else { return Finding(.eviction, .skipped, "Redis does not report it") }
            if policy == "noeviction" { return Finding(.eviction, .ok, "noeviction: it deletes no keys to make room") }
            let advice = "CONFIG SET maxmemory-policy noeviction, and the same in redis.conf"
            guard readings.info.value?.number("maxmemory") != 0 else {
                return Finding(
                    .eviction, .warning, "\(policy), which does nothing while maxmemory is 0", advice: advice)
            }
            let evicted = readings.info.value?.number("evicted_keys") ?? 0
            let past = evicted > 0 ? " (\(evicted) keys are gone already)" : ""
            return Finding(
                .eviction, .failure,
                "\(policy): to make room it deletes keys\(past). Then connected users appear offline or members "
                    + "cannot join, without any error",
                advice: advice)
        }
    }

    var persistence: Finding {
        readings.info.judged(.persistence) { info in
            for (fact, what) in [("rdb_last_bgsave_status", "snapshot"), ("aof_last_write_status", "append-only file")]
            where info[fact] == "err" {
                return Finding(
                    .persistence, .failure, "the last \(what) could not be written, so Redis may refuse writes",
                    advice: "check its log and its disk")
            }
            let saves = readings.settings.value.flatMap { $0["save"] }.map { !$0.isEmpty }
            let appends = info["aof_enabled"] == "1"
            if appends { return Finding(.persistence, .ok, "an append-only file is kept") }
            if saves == true { return Finding(.persistence, .ok, "snapshots are saved regularly") }
            return unsaved(isCertain: saves == false)
        }
    }

    private func unsaved(isCertain: Bool) -> Finding {
        guard isCertain else {
            return Finding(
                .persistence, .skipped,
                "no append-only file is kept; whether snapshots are saved is unknown, possibly for lack of the right "
                    + "+config|get")
        }
        let members = readings.keys.value?.counts[.members] ?? 0
        if members == 0, let sample = readings.keys.value, sample.seen >= sample.total {
            return Finding(.persistence, .ok, "nothing is kept on disk, and without members nothing needs to be")
        }
        let reason =
            members > 0
            ? "conversations have members, which Rollcall stores only here"
            : "conversations may have members (not checked), which Rollcall stores only here"
        return Finding(
            .persistence, .warning, "nothing is kept on disk, but \(reason)",
            advice: "set appendonly yes, or be prepared to set the members again from your own database")
    }
}
