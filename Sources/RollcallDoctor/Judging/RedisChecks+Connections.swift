// Redis's limits on connections and on slow subscribers.

extension RedisChecks {
    /// The approximate size of a Rollcall message in a subscriber's output buffer.
    private static let messageBytes = 160

    var outputBuffers: Finding {
        let value = readings.settings.map { $0["client-output-buffer-limit"] ?? "" }
        return value.judged(.outputBuffers) { value in
            guard let limit = BufferLimit(value) else {
                return Finding(.outputBuffers, .skipped, "client-output-buffer-limit has no entry for pubsub")
            }
            if limit.hard == 0, limit.soft == 0 {
                return Finding(
                    .outputBuffers, .warning, "no limit (pubsub 0 0 0): a worker that does not read could fill Redis",
                    advice: "CONFIG SET client-output-buffer-limit 'pubsub 64mb 16mb 30'")
            }
            let messages = limit.least / Self.messageBytes / 1_000 * 1_000
            let found =
                "\(limit): room for about \(messages) messages that a worker has not read; a worker further "
                + "behind is disconnected and reloads everything"
            guard messages < 20_000 else { return Finding(.outputBuffers, .ok, found) }
            return Finding(
                .outputBuffers, .warning, found + ", which a burst would cause",
                advice: "CONFIG SET client-output-buffer-limit 'pubsub 64mb 16mb 30'")
        }
    }

    /// The limit for subscribers, from `normal 0 0 0 slave … pubsub HARD SOFT SECONDS`.
    private struct BufferLimit: CustomStringConvertible {
        let hard: Int
        let soft: Int
        let seconds: Int

        init?(_ setting: String) {
            let words = setting.split(separator: " ")
            guard let start = words.firstIndex(of: "pubsub"), words.count > start + 3,
                let hard = Int(words[start + 1]), let soft = Int(words[start + 2]), let seconds = Int(words[start + 3])
            else { return nil }
            (self.hard, self.soft, self.seconds) = (hard, soft, seconds)
        }

        /// The smaller of the limits that are set.
        var least: Int { [hard, soft].filter { $0 > 0 }.min() ?? 0 }

        var description: String {
            [
                hard > 0 ? "\(Amount.bytes(hard)) at once" : nil,
                soft > 0 ? "\(Amount.bytes(soft)) for \(seconds) s" : nil,
            ].compactMap { $0 }.joined(separator: ", ")
        }
    }

    var connections: Finding {
        readings.info.judged(.connections) { info in
            let most = info.number("maxclients") ?? readings.settings.value?["maxclients"].flatMap { Int($0) }
            guard let most, let taken = info.number("connected_clients") else {
                return Finding(.connections, .skipped, "Redis does not report its limit (maxclients)")
            }
            let (free, overflows) = most.subtractingReportingOverflow(taken)
            let more = overflows ? 0 : max(0, free) / max(1, needs.connections)
            let found =
                "\(taken) of \(most) used (maxclients); a worker like this one needs \(needs.connections), so there is "
                + "room for \(more >= 100 ? "hundreds" : "\(more)") more"
            if more >= 2 { return Finding(.connections, .ok, found) }
            let advice = "raise maxclients, and Redis's limit of open files with it"
            let serves = readings.workers.value?.contains { $0.leaseEnd >= readings.time } ?? false
            return Finding(.connections, more == 0 && !serves ? .failure : .warning, found, advice: advice)
        }
    }
}
