// When and where outages occurred. Time limits count from the end of an outage, so the checks use this to find how old
// an observer's view may be.

internal import RollcallCore

/// The outages of a run.
struct Weather {
    enum Place: Hashable {
        case redis
        /// A machine with its worker and its connections to Redis.
        case machine(Int)
        /// The connection of one device, by its index.
        case edge(Int)
        /// A client without contact to any worker, by its device's index.
        case client(Int)
        /// The worker on a machine that has dropped disconnected sessions: it continues under a new incarnation, and
        /// treats no worker as dead before it has watched leases for one lease, as after any outage.
        case judge(Int)

        /// Whether an outage here affects no others.
        fileprivate var isPrivate: Bool {
            switch self {
            case .client, .judge: true
            case .redis, .machine, .edge: false
            }
        }

        /// The place of the worker on this machine as a judge of leases.
        var judge: Place? { if case .machine(let index) = self { .judge(index) } else { nil } }
    }

    struct Spell {
        let place: Place
        /// Whether all goes on, only later.
        let isLateness: Bool
        let from: Instant
        /// `nil` while it lasts.
        var to: Instant?

        func lasts(at moment: Instant, and after: Duration = .zero) -> Bool {
            from <= moment && (to.map { $0 + after > moment } ?? true)
        }
    }

    private(set) var spells: [Spell] = []
    private var ongoing = 0
    private var lastEnd: Instant?

    mutating func begins(at place: Place, isLateness: Bool, _ now: Instant) -> Int {
        spells.append(Spell(place: place, isLateness: isLateness, from: now, to: nil))
        if !place.isPrivate { ongoing += 1 }
        return spells.count - 1
    }

    mutating func ends(_ spell: Int, _ now: Instant) {
        spells[spell].to = now
        guard !spells[spell].place.isPrivate else { return }
        ongoing -= 1
        lastEnd = now
    }

    /// Returns whether all outages are over and settled.
    func isCalm(at now: Instant, settling: Duration) -> Bool {
        ongoing == 0 && lastEnd.map { $0 + settling <= now } ?? true
    }

    /// Returns the start of the last outage before `now` that had not settled when the next one began, or `now` if all
    /// have settled.
    ///
    /// - Parameter settling: how long after an outage its effects may last.
    func calm(before now: Instant, at places: [Place], settling: Duration) -> Instant {
        var calm = now
        while let earlier = spells.first(where: {
            places.contains($0.place) && $0.from < calm && ($0.to.map { $0 + settling > calm } ?? true)
        }) {
            calm = earlier.from
        }
        return calm
    }

    /// Returns whether, at some time since `earliest`, no heartbeat from these places may have reached Redis for as
    /// long as `duration`, while others continued.
    func lasted(
        _ duration: Duration, at places: [Place], heartbeat: Duration, since earliest: Instant, until now: Instant,
        settling: Duration
    ) -> Bool {
        spells.contains { spell in
            guard places.contains(spell.place), spell.from < now else { return false }
            let last = min(now, (spell.to ?? now) + settling - .nanoseconds(1))
            let calm = calm(before: last, at: places, settling: settling)
            return last > earliest && last - lastHeartbeat(before: calm, each: heartbeat) >= duration
        }
    }

    /// Returns when the last heartbeat before an outage may have succeeded, to within one heartbeat. It may have failed
    /// if Redis itself was away just before, for too short a time to count as an outage for others.
    private func lastHeartbeat(before outage: Instant, each heartbeat: Duration) -> Instant {
        let before = spells.first { spell in
            spell.place == .redis && spell.lasts(at: outage, and: heartbeat)
                && spell.to.map { $0 - spell.from <= heartbeat * 2 } ?? false
        }
        return before?.from ?? outage
    }

    /// Returns how long each stretch without an outage at these places lasted. Answers that are late are none, but where they
    /// begin or end to be late, one of them may look like one.
    func stretches(since start: Instant, until now: Instant, at places: [Place]) -> [Duration] {
        let there = spells.filter { places.contains($0.place) }
        let outages = there.flatMap { spell -> [(from: Instant, to: Instant)] in
            let end = spell.to ?? now
            return spell.isLateness ? [(spell.from, spell.from), (end, end)] : [(spell.from, end)]
        }
        var (stretches, begin) = ([Duration](), start)
        for outage in outages.sorted(by: { $0.from < $1.from }) where outage.to >= start {
            if outage.from > begin { stretches.append(outage.from - begin) }
            begin = max(begin, outage.to)
        }
        return stretches + (now > begin ? [now - begin] : [])
    }

    /// Returns whether there is an outage at these places that is not over or not settled.
    func isUnsettled(at now: Instant, by places: [Place], settling: Duration) -> Bool {
        spells.contains { places.contains($0.place) && $0.lasts(at: now, and: settling) }
    }

    /// Returns when the last outage at these places ended; `now` if one is in progress.
    func lastOutage(before now: Instant, at places: [Place]) -> Instant {
        spells.filter { places.contains($0.place) }.map { $0.to ?? now }.max() ?? Instant(nanoseconds: 0)
    }
}
