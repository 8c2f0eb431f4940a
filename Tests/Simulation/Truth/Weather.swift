// When and where something was amiss. Promises about time count from the end of the outage, so the checks ask here how
// far back an observer's view may rightly be.

internal import RollcallCore

/// The outages of a run.
struct Weather {
    enum Place: Hashable {
        case redis
        /// A machine with its worker and its ways to Redis.
        case machine(Int)
        /// The way to one device, by its index.
        case edge(Int)
        /// A client by its device's index: out of touch with all workers.
        case client(Int)
        /// The worker on a machine that has dropped sessions without a connection: it goes on under a new incarnation, and
        /// as after any outage it takes nobody for dead before it has watched for a lease.
        case judge(Int)

        /// What is amiss here is nobody else's outage.
        fileprivate var isPrivate: Bool {
            switch self {
            case .client, .judge: true
            case .redis, .machine, .edge: false
            }
        }

        /// Where the worker judges whose machine this is.
        var judge: Place? { if case .machine(let index) = self { .judge(index) } else { nil } }
    }

    struct Spell {
        let place: Place
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

    mutating func begins(at place: Place, _ now: Instant) -> Int {
        spells.append(Spell(place: place, from: now, to: nil))
        if !place.isPrivate { ongoing += 1 }
        return spells.count - 1
    }

    mutating func ends(_ spell: Int, _ now: Instant) {
        spells[spell].to = now
        guard !spells[spell].place.isPrivate else { return }
        ongoing -= 1
        lastEnd = now
    }

    /// Whether everything everywhere has settled.
    func isCalm(at now: Instant, settling: Duration) -> Bool {
        ongoing == 0 && lastEnd.map { $0 + settling <= now } ?? true
    }

    /// Until when, back from `now`, everything about these places had been calm for long enough to have settled.
    ///
    /// - Parameter settling: how long after an outage things may still be as it left them.
    func calm(before now: Instant, at places: [Place], settling: Duration) -> Instant {
        var calm = now
        while let earlier = spells.first(where: {
            places.contains($0.place) && $0.from < calm && ($0.to.map { $0 + settling > calm } ?? true)
        }) {
            calm = earlier.from
        }
        return calm
    }

    /// Whether no heartbeat may have come from these places to Redis for as long as `duration`, at any moment since
    /// `earliest`, others having gone on.
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

    /// When the last heartbeat before an outage may have come through, to within one: not if Redis itself was away just
    /// before, for so short a time that others do not make allowance for it.
    private func lastHeartbeat(before outage: Instant, each heartbeat: Duration) -> Instant {
        let before = spells.first { spell in
            spell.place == .redis && spell.lasts(at: outage, and: heartbeat)
                && spell.to.map { $0 - spell.from <= heartbeat * 2 } ?? false
        }
        return before?.from ?? outage
    }

    /// Whether there is such an outage, or was one that has not settled yet.
    func isUnsettled(at now: Instant, by places: [Place], settling: Duration) -> Bool {
        spells.contains { places.contains($0.place) && $0.lasts(at: now, and: settling) }
    }

    /// When the last such outage ended; `now` if one lasts.
    func lastOutage(before now: Instant, at places: [Place]) -> Instant {
        spells.filter { places.contains($0.place) }.map { $0.to ?? now }.max() ?? Instant(nanoseconds: 0)
    }
}
