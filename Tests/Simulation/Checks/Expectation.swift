// What an observer may be shown, as far as it depends only on the machine of the observer's worker. It is the same for
// all observers of that worker.

internal import RollcallCore
internal import RollcallProtocol

/// What the worker of one machine may show at one moment.
final class Expectation {
    struct Typing {
        /// Whether an update that the user types is recent enough, given how long updates take.
        var may = false
        /// Whether any signal is recent enough for typing to be shown at all, even during outages.
        var isAlive = false
        /// Whether an observer who does not see it has missed an update.
        var must = false
    }

    private unowned let world: World
    private let places: [Weather.Place]
    /// The places, and their workers as judges of leases.
    private let judges: [Weather.Place]
    /// Whether there is no outage anywhere, and all earlier ones have settled.
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
            && world.heldBack(at: world.places.map { .machine($0.index) }) == world.agenda.now
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
        let calm = calm(of: device, at: device.isJudged ? judges : places, settling: settling)
        // A worker that holds back what the device did may have been left since.
        // Who has been cut off since `calm` shows what had been held back by then.
        let heldBack = min(
            world.heldBack(at: device.machines(since: now - Checks.holdingBack)),
            world.heldBack(at: device.machines(since: calm - Checks.holdingBack), before: calm))
        let earliest = min(calm, restored(device), heldBack) - Checks.lag
        var states = device.states(since: earliest, until: now)
        // Other workers may never learn of a session that began and ended during an outage, and continue with the one
        // before.
        states.formUnion(
            device.resurfacing { worker, isJudged in
                let settling = isJudged ? world.settings.judging : Checks.settling
                return world.calm(at: (isJudged ? judges : places) + [.machine(worker.place)], settling: settling)
                    - Checks.lag
            })
        if world.weather.isUnsettled(at: now, by: judges, settling: world.settings.judging) {
            states.formUnion(device.leftBehind(since: earliest))
        }
        if wasCutOff(at: device.machines(since: earliest), since: earliest) || mayBeForgotten(device, states) {
            states.insert(.gone)
        }
        if let end = device.wouldBeGone, end <= now, world.isUnsettled(at: device.machine + [.redis]) {
            states.insert(.gone)
        }
        return states
    }

    /// Returns how old knowledge of the device may be, given the outages at these places and at each machine that the
    /// device was connected to since then.
    private func calm(of device: DeviceTruth, at places: [Weather.Place], settling: Duration) -> Instant {
        var machines = device.machine
        while true {
            let calm = world.calm(at: places + machines, settling: settling)
            let wider = device.machines(since: calm)
            guard wider.count > machines.count else { return calm }
            machines = wider
        }
    }

    /// Returns from when on data that Redis was restored to may be seen: of connected devices until they are written
    /// again, of others until their end is detected. An observer with older knowledge may not know yet that a device is
    /// back. If the versions of older data are ahead of Redis's clock, which was set back, no worker can know which
    /// record is newer, and what was shown before the outage stays until it is over for all workers.
    private func restored(_ device: DeviceTruth) -> Instant {
        let now = world.agenda.now
        let calm = world.calm(at: places + device.machine)
        let isGone = device.isJudged || device.states(since: calm - Checks.lag, until: now).contains(.gone)
        let isOlder = world.truth.dataLost.map { world.truth.dataFrom < $0 } ?? false
        let isUnordered = isOlder && world.redis.isCatchingUp
        let settling = isGone || isUnordered ? world.settings.judging : Checks.settling
        let judged = world.calm(at: places + device.machine, settling: settling)
        guard let lost = world.truth.dataLost, judged <= lost else { return now }
        return isUnordered ? min(judged, world.truth.dataFrom) : world.truth.dataFrom
    }

    /// Returns whether one of these machines had an outage of such length that its worker's lease may have expired.
    private func wasCutOff(at machines: [Weather.Place], since earliest: Instant) -> Bool {
        world.weather.lasted(
            world.settings.survived, at: machines, heartbeat: world.settings.heartbeat, since: earliest,
            until: world.agenda.now, settling: Checks.settling)
    }

    /// Returns whether the device may be missing from the user's record for a moment.
    ///
    /// A session that began during an outage may be written only after an older one was removed. After Redis lost its
    /// data, connected active devices are written again at once, and others a second later. Changes of another device
    /// are written before that, and so are those of a worker that has an outage itself, which may be about to write
    /// everything again; its own devices follow even later. If Redis loses its data again, others wait no second time.
    private func mayBeForgotten(_ device: DeviceTruth, _ states: StateSet) -> Bool {
        if device.isUncertain, world.isUnsettled(at: [.redis]) { return true }
        let calm = world.calm(at: places + device.machine) - Checks.lag
        guard let lost = world.truth.dataLost, lost > calm else { return false }
        return states != .active || device.connected == nil || world.truth.isLostAgain
            || world.truth.devices(of: device.name.user).contains {
                $0.hasChanged(since: calm, until: world.agenda.now) || world.isUnsettled(at: $0.holders)
                    || world.heldBack(at: $0.holders) < world.agenda.now
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
            // A worker's estimate of Redis's time may be ahead, and a message to a large room may have to wait.
            let slack = Duration.milliseconds(300) + world.settings.shard.typing.coalesce
            expected.isAlive = expected.isAlive || typing.isAlive(at: now, expiry: expiry + slack)
            expected.may =
                expected.may
                || typing.mayType(since: { world.calm(at: places + $0.places) - Checks.lag }, expiry: expiry)
            // A worker that receives no renewals ends the typing at its deadline.
            expected.must =
                expected.must
                || !world.isUnsettled(at: places)
                    && typing.mustType(
                        on: device.current, since: calm - Checks.lag, until: now,
                        // A worker without an incarnation refuses typing, also if it gave it up by its own choice.
                        outage: {
                            world.weather.lastOutage(before: now, at: $0.places + $0.places.compactMap(\.judge))
                        }, expiry: expiry)
        }
        // Older data may contain typing that was stopped since, until it expires. An observer who then loses contact
        // goes on seeing it.
        let earliest = calm - Checks.lag
        if let lost = world.truth.dataLost, earliest < lost + expiry + Checks.lag {
            let wasAlive = world.truth.devices(of: user).contains {
                $0.typing[conversation]?.isAlive(at: earliest, expiry: expiry) ?? false
            }
            expected.may = expected.may || wasAlive
        }
        return expected
    }
}
