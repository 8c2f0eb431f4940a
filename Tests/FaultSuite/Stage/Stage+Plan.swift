// The functions with which a fault declares what should be observed.

internal import Harness
internal import NIOConcurrencyHelpers
internal import RollcallClient

extension Stage {
    private func plan(_ body: (inout Plan) -> Void) {
        state.withLockedValue { body(&$0.plan) }
    }

    // MARK: Expectations

    /// Expects a user who leaves at `moment` to be offline for all observers within `limit`.
    func offline(_ user: UserID, after moment: Moment, within limit: Duration, until end: Moment? = nil) {
        expect(.status(user, .offline), .offline, since: moment, within: limit, until: end)
    }

    /// Expects these users to be offline within the lease and two seconds after a worker died with all of their
    /// devices. No read may show them present after the lease.
    ///
    /// - Parameter tolerance: how much longer than the lease reads may show them.
    func dead(_ users: [UserID], since moment: Moment, until end: Moment? = nil, tolerance: Duration = .zero) {
        for user in users {
            offline(user, after: moment, within: settings.lease + .seconds(2), until: end)
            forbid(
                [.online, .away], of: user, .ghosts, from: moment + settings.lease + tolerance, until: end,
                who: .reads)
        }
    }

    /// Expects typing last signalled at `moment` to end when its expiry has passed.
    func typingExpires(_ user: UserID, signalled moment: Moment) {
        expect(.typesNot(user, in: room), .typing, since: moment, within: settings.expiry + Promise.way)
    }

    /// Expects typing that was ended at `moment` to disappear at once.
    func typingStops(_ user: UserID, at moment: Moment) {
        expect(.typesNot(user, in: room), .typing, since: moment, within: Promise.changeLimit)
    }

    /// Expects this status to be visible soon after the outage.
    func converge(_ user: UserID, _ status: PresenceStatus, after moment: Moment, until end: Moment? = nil) {
        expect(
            .status(user, status), .convergence, since: moment, within: Promise.convergenceLimit, until: end)
    }

    func expect(
        _ thing: Expectation.Thing, _ promise: Promise, since moment: Moment, within limit: Duration,
        until end: Moment? = nil
    ) {
        plan {
            $0.expectations += $0.with([thing]).map { thing in
                var (lateness, limit) = (Duration.zero, limit)
                if case .here(_, let isHere) = thing {
                    // Lists are sent at a pace, `presence.coalesce`, and while an outage settles nobody goes.
                    let (pace, settling) = (Duration.milliseconds(500), max(settings.lease, .seconds(2)))
                    lateness = pace + (isHere ? .zero : settling)
                    limit += promise == .convergence ? lateness : pace
                }
                return Expectation(
                    thing: thing, promise: promise, since: moment, within: limit, until: end, lateness: lateness)
            }
        }
    }

    // MARK: Prohibitions

    /// These users must not appear offline from now on.
    func steady(_ users: [UserID], who: Prohibition.Watchers = .all) {
        for user in users { forbid([.offline], of: user, .steadiness, from: .now, who: who) }
    }

    func forbid(
        _ statuses: Set<PresenceStatus>, of user: UserID, _ promise: Promise, from start: Moment,
        until end: Moment? = nil, who: Prohibition.Watchers = .all
    ) {
        plan {
            $0.prohibitions.append(
                Prohibition(promise: promise, user: user, statuses: statuses, from: start, until: end, who: who))
        }
    }

    // MARK: Excuses

    /// The worker of a host could not know the current state in this period.
    func blind(_ host: Int, from start: Moment, to end: Moment) {
        plan { $0.blind.append((host, start..<end)) }
    }

    /// The worker of a host may take Redis to be away in this period.
    func unsettled(_ host: Int, from start: Moment, to end: Moment) {
        plan { $0.unsettled.append((host, start..<end)) }
    }

    /// Reads may be wrong in this period.
    func unreadable(from start: Moment, to end: Moment) {
        plan { $0.unreadable.append(start..<end) }
    }

    /// Connections to these hosts may end from now on.
    func gone(_ hosts: [Int]) {
        let now = Moment.now
        plan { plan in plan.gone += hosts.map { ($0, now) } }
    }

    /// Connections of these users may end.
    func mayLose(_ users: [UserID]) {
        plan { $0.mayLose.formUnion(users) }
    }

    func dataIsLost() {
        let now = Moment.now
        plan { $0.dataLost = $0.dataLost ?? now }
    }

    /// Sets Redis's clock forward by this much, or back if it is negative.
    func setRedisClock(by step: Duration) throws {
        let now = Moment.now
        if step < .zero { plan { $0.clockSetBack = $0.clockSetBack ?? (now, .zero - step) } }
        try redis.setClock(by: step)
    }

    var dataLostSince: Moment? { state.withLockedValue { $0.plan.dataLost } }

    /// This user is not, or no longer, a member.
    func exclude(_ user: UserID, from conversation: ConversationID, since moment: Moment?) {
        plan { $0.exclusions.append(Exclusion(user: user, conversation: conversation, since: moment)) }
    }

    /// No worker could know the members of any conversation in this period.
    func membersAreUnknown(from start: Moment, to end: Moment) {
        plan { $0.membersUnknown.append(start..<end) }
    }

    /// The fault and all its consequences are over.
    func isOver(at moment: Moment) {
        plan { $0.over = moment }
    }

    /// Adds a finding of the fault itself.
    func found(_ promise: Promise, took: Duration? = nil, limit: Duration? = nil, broken: String? = nil) {
        plan { $0.findings.append(Finding(promise, took: took, limit: limit, broken: broken)) }
    }

    /// Adds a count to the results.
    func figure(_ name: String, _ value: Double) {
        plan { $0.findings.append(Finding(.other, figure: [name: value])) }
    }

    /// The round lasts at least until this moment.
    func look(until moment: Moment) {
        state.withLockedValue { $0.lookUntil = max($0.lookUntil, moment) }
    }
}
