// What a fault says of itself.

internal import Harness
internal import NIOConcurrencyHelpers
internal import RollcallClient

extension Stage {
    private func plan(_ body: (inout Plan) -> Void) {
        state.withLockedValue { body(&$0.plan) }
    }

    // MARK: What should be seen

    /// Who is gone at `moment` is offline for everybody this much later.
    func offline(_ user: UserID, after moment: Moment, within limit: Duration, until end: Moment? = nil) {
        expect(.status(user, .offline), .offline, since: moment, within: limit, until: end)
    }

    /// After a worker died with all devices of these users: offline within the lease and two seconds, and no ghost in
    /// any read after the lease.
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

    /// The typing that was last signalled at `moment` is over when its expiry has passed.
    func typingExpires(_ user: UserID, signalled moment: Moment) {
        expect(.typesNot(user, in: room), .typing, since: moment, within: settings.expiry + Promise.way)
    }

    /// What ended the typing took effect at once.
    func typingStops(_ user: UserID, at moment: Moment) {
        expect(.typesNot(user, in: room), .typing, since: moment, within: Promise.changeLimit)
    }

    /// The outage is over: this is the truth, and should be seen.
    func converge(_ user: UserID, _ status: PresenceStatus, after moment: Moment, until end: Moment? = nil) {
        expect(
            .status(user, status), .convergence, since: moment, within: Promise.convergenceLimit, until: end)
    }

    func expect(
        _ thing: Expectation.Thing, _ promise: Promise, since moment: Moment, within limit: Duration,
        until end: Moment? = nil
    ) {
        plan {
            $0.expectations.append(
                Expectation(thing: thing, promise: promise, since: moment, within: limit, until: end))
        }
    }

    // MARK: What should never be seen

    /// These users never appear offline from now on.
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

    // MARK: What excuses

    /// The worker of a host could not know the truth in this time.
    func blind(_ host: Int, from start: Moment, to end: Moment) {
        plan { $0.blind.append((host, start..<end)) }
    }

    /// Reads need not tell the truth in this time.
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

    /// Sets Redis's clock forward by this much; back, if it is negative.
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

    /// No worker could know the members of any conversation in this time.
    func membersAreUnknown(from start: Moment, to end: Moment) {
        plan { $0.membersUnknown.append(start..<end) }
    }

    /// The fault and all its consequences are over.
    func isOver(at moment: Moment) {
        plan { $0.over = moment }
    }

    /// What was found otherwise.
    func found(_ promise: Promise, took: Duration? = nil, limit: Duration? = nil, broken: String? = nil) {
        plan { $0.findings.append(Finding(promise, took: took, limit: limit, broken: broken)) }
    }

    /// Something worth telling was counted.
    func figure(_ name: String, _ value: Double) {
        plan { $0.findings.append(Finding(.other, figure: [name: value])) }
    }

    /// The round goes on until this moment at least.
    func look(until moment: Moment) {
        state.withLockedValue { $0.lookUntil = max($0.lookUntil, moment) }
    }
}
