// What an observer may be shown, as far as it depends on where the observer's worker is and on nothing else of the
// observer: the same for all who look from there.

internal import RollcallCore
internal import RollcallModel

/// What may be shown by the worker of one machine at one moment.
final class Expectation {
    struct Typing {
        /// Whether news that the user types is recent enough, as far as news travels.
        var may = false
        /// Whether any signal is recent enough for typing to be shown at all, whatever is amiss.
        var isAlive = false
        /// Whether somebody who does not see it has missed it.
        var must = false
    }

    private unowned let world: World
    private let places: [Weather.Place]
    /// The places, and their workers as judges of others.
    private let judges: [Weather.Place]
    /// Whether nothing is amiss anywhere, nor was for long.
    private let isCalm: Bool
    private var statuses: [UserID: StatusSet] = [:]
    private var typing: [ConversationID: [UserID: Typing]] = [:]

    init(_ world: World, at places: [Weather.Place]) {
        self.world = world
        self.places = places
        judges = places + places.compactMap(\.judge)
        let settling = world.settings.judging + Checks.lag
        isCalm =
            world.weather.isCalm(at: world.agenda.now, settling: settling)
            && !world.weather.isUnsettled(at: world.agenda.now, by: judges, settling: settling)
    }

    func statuses(of user: UserID) -> StatusSet {
        if let known = statuses[user] { return known }
        let set = StatusSet(of: world.truth.devices(of: user).map { states(of: $0) })
        statuses[user] = set
        return set
    }

    func typing(of user: UserID, in conversation: ConversationID) -> Typing {
        if let known = typing[conversation]?[user] { return known }
        let expected = expectedTyping(of: user, in: conversation)
        typing[conversation, default: [:]][user] = expected
        return expected
    }

    // MARK: Presence

    func states(of device: DeviceTruth) -> StateSet {
        let now = world.agenda.now
        guard !isCalm else { return device.states(since: now - Checks.lag, until: now) }
        let settling = device.isJudged ? world.settings.judging : Checks.settling
        let calm = world.calm(at: (device.isJudged ? judges : places) + device.machine, settling: settling)
        let earliest = min(calm, restored(device)) - Checks.lag
        var states = device.states(since: earliest, until: now)
        // A session that came and went in an outage may never be known to others, who go on with the one before.
        states.formUnion(
            device.resurfacing { worker, isJudged in
                let settling = isJudged ? world.settings.judging : Checks.settling
                return world.calm(at: (isJudged ? judges : places) + [.machine(worker.place)], settling: settling)
                    - Checks.lag
            })
        if wasCutOff(at: device.machines(since: earliest), since: earliest) || mayBeForgotten(device, states) {
            states.insert(.gone)
        }
        if let end = device.wouldBeGone, end <= now, world.isUnsettled(at: device.machine + [.redis]) {
            states.insert(.gone)
        }
        return states
    }

    /// From when what Redis was restored to may be seen: of devices that are there until they are said again, of others
    /// until they are judged. Whoever is behind may not know yet that a device is back.
    private func restored(_ device: DeviceTruth) -> Instant {
        let now = world.agenda.now
        let calm = world.calm(at: places + device.machine)
        let isGone = device.isJudged || device.states(since: calm - Checks.lag, until: now).contains(.gone)
        let settling = isGone ? world.settings.judging : Checks.settling
        let judged = world.calm(at: places + device.machine, settling: settling)
        guard let lost = world.truth.dataLost, judged <= lost else { return now }
        return world.truth.dataFrom
    }

    /// Whether one of these machines was in trouble for long enough that its worker's lease may have passed.
    private func wasCutOff(at machines: [Weather.Place], since earliest: Instant) -> Bool {
        world.weather.lasted(
            world.settings.survived, at: machines, heartbeat: world.settings.heartbeat, since: earliest,
            until: world.agenda.now, settling: Checks.settling)
    }

    /// Whether the user's record may for a moment be without the device.
    ///
    /// A session that began in an outage may be written only after an older one's removal. Over a Redis that lost its
    /// data devices that are connected and active are said again at once, the others a second later; a real change of
    /// another device goes before all that, and so does what a worker says that is itself in trouble, since it may be
    /// about to say all that it has; its own devices come later still.
    private func mayBeForgotten(_ device: DeviceTruth, _ states: StateSet) -> Bool {
        if device.isUncertain, world.isUnsettled(at: [.redis]) { return true }
        let calm = world.calm(at: places + device.machine) - Checks.lag
        guard let lost = world.truth.dataLost, lost > calm else { return false }
        return states != .active || device.connected == nil
            || world.truth.devices(of: device.name.user).contains {
                $0.hasChanged(since: calm, until: world.agenda.now) || world.isUnsettled(at: $0.holders)
            }
    }

    // MARK: Typing

    private func expectedTyping(of user: UserID, in conversation: ConversationID) -> Typing {
        let (now, expiry) = (world.agenda.now, world.settings.shard.typing.expiry)
        let calm = world.calm(at: places)
        var expected = Typing()
        for device in world.truth.devices(of: user) {
            guard let typing = device.typing[conversation], !isCalm || typing.isAlive(at: now, expiry: expiry * 2)
            else {
                continue
            }
            expected.isAlive = expected.isAlive || typing.isAlive(at: now, expiry: expiry + .milliseconds(300))
            expected.may =
                expected.may
                || typing.mayType(since: { world.calm(at: places + $0.places) - Checks.lag }, expiry: expiry)
            // Who cannot hear renewals ends the typing by its deadline.
            expected.must =
                expected.must
                || !world.isUnsettled(at: places)
                    && typing.mustType(
                        on: device.current, since: calm - Checks.lag, until: now,
                        outage: { world.weather.lastOutage(before: now, at: $0.places) }, expiry: expiry)
        }
        // Older data may hold what was stopped since, until it expires.
        if let lost = world.truth.dataLost, now < lost + expiry + Checks.lag || lost > calm - Checks.lag {
            expected.may = expected.may || expected.isAlive
        }
        return expected
    }
}
