// Redis's latency and clock.

import RollcallModel

extension RedisChecks {
    /// Above these, users notice that typing is late; far above, leases expire.
    private static let slowMedian = Duration.milliseconds(5)
    private static let slowMost = Duration.milliseconds(100)
    /// How long one command may block all others.
    private static let slowCommand = Duration.milliseconds(50)
    /// The maximum clock difference between Redis's hosts: the time between a worker's last write and the sweep of its
    /// lease.
    private static let clocksApart = Duration.milliseconds(500)

    var latency: Finding {
        readings.roundTrips.judged(.latency) { taken in
            let sorted = taken.sorted()
            guard let most = sorted.last else { return Finding(.latency, .skipped, "nothing was measured") }
            let (median, high) = (sorted[sorted.count / 2], sorted[sorted.count * 99 / 100])
            let found =
                "p50 \(Amount.milliseconds(median)), p99 \(Amount.milliseconds(high)), at most "
                + "\(Amount.milliseconds(most)) over \(Amount.count(sorted.count, "PING"))"
            guard median > Self.slowMedian || most > Self.slowMost else { return Finding(.latency, .ok, found) }
            return Finding(
                .latency, .warning, found + ": every typing signal waits that long",
                advice: "put Redis near the workers, and make sure that it has a CPU core to itself and that no other "
                    + "program runs scripts or slow commands there")
        }
    }

    var slowCommands: Finding {
        readings.slowCommands.judged(.slowCommands) { commands in
            let recent = commands.filter { $0.took >= Self.slowCommand && $0.ago <= .seconds(3600) }
            guard let worst = recent.max(by: { $0.took < $1.took }) else {
                return Finding(
                    .slowCommands, .ok, "none of \(Amount.milliseconds(Self.slowCommand)) within the last hour")
            }
            return Finding(
                .slowCommands, .warning,
                "\(recent.count) within the last hour, the longest \(worst.name) with "
                    + "\(Amount.milliseconds(worst.took)), \(worst.ago.spoken) ago: heartbeats and typing signals "
                    + "wait for such commands",
                advice: "redis-cli SLOWLOG GET shows which clients ran them; give other programs a separate Redis")
        }
    }

    var clock: Finding {
        readings.clock.judged(.clock) { clock in
            if let apart = replicaApart(from: clock) {
                return Finding(
                    .clock, .failure, apart,
                    advice: "run NTP on the hosts of Redis: after a failover to that replica, leases would be wrong")
            }
            let (apart, words) = (Self.apart(clock.ahead), Self.told(clock) + unasked)
            let certain = apart - clock.uncertainty
            guard certain > Self.clocksApart else { return Finding(.clock, .ok, words) }
            let breaksTokens = needs.leeway.map { certain > $0 } ?? false
            return Finding(
                .clock, breaksTokens ? .failure : .warning,
                words + (breaksTokens ? ", more than auth.leeway: tokens are checked with a wrong clock" : ""),
                advice: "run NTP on both: presence uses Redis's clock, tokens and logs use this host's")
        }
    }

    private static func apart(_ ahead: Duration) -> Duration { ahead < .zero ? .zero - ahead : ahead }

    private static func told(_ clock: RedisReadings.Clock) -> String {
        let apart = apart(clock.ahead)
        if apart <= clock.uncertainty {
            return "Redis's clock and this host's agree within \(Amount.milliseconds(clock.uncertainty))"
        }
        let amount = apart >= .seconds(10) ? apart.spoken : Amount.milliseconds(apart)
        return "Redis's clock is \(amount) \(clock.ahead < .zero ? "behind" : "ahead of") this host's"
    }

    private var unasked: String {
        let places = readings.replicaClocks.filter { $0.value.value == nil }.keys.sorted()
        return places.isEmpty ? "" : " (the clock of the replica \(places.joined(separator: ", ")) could not be read)"
    }

    private func replicaApart(from primary: RedisReadings.Clock) -> String? {
        for (place, reading) in readings.replicaClocks.sorted(by: { $0.key < $1.key }) {
            guard let replica = reading.value else { continue }
            let apart = Self.apart(replica.ahead - primary.ahead)
            guard apart - replica.uncertainty - primary.uncertainty > Self.clocksApart else { continue }
            return "the clock of the replica \(place) is \(Amount.milliseconds(apart)) from the primary's, more than "
                + "\(Amount.milliseconds(Self.clocksApart))"
        }
        return nil
    }
}
