// A round: the fault, what it takes to be over, the proof that all works again, and the verdict.

internal import Harness
internal import NIOConcurrencyHelpers
internal import RollcallClient
internal import TestSupport

extension Stage {
    /// How soon after a change everybody should see it where nothing is wrong.
    private static let changeLimit = Duration.seconds(1)

    /// Goes through a fault.
    ///
    /// - Throws: what kept the fault from being made.
    func play(_ fault: Fault) async throws -> [Finding] {
        try await fault.body(self)
        try await waitUntilOver()
        let probed = Moment.now
        state.withLockedValue { state in
            for index in state.plan.expectations.indices where state.plan.expectations[index].until == nil {
                state.plan.expectations[index].until = probed
            }
        }
        try await probe()
        return findings(by: .now)
    }

    private func waitUntilOver() async throws {
        let (plan, looked) = state.withLockedValue { ($0.plan, $0.lookUntil) }
        let sighted = plan.blind.map { $0.span.upperBound + Promise.convergenceLimit }
        let end = (plan.expectations.map { $0.until ?? $0.deadline } + sighted + [looked]).max() ?? .now
        try await Task.sleep(until: end + .milliseconds(200), clock: .continuous)
    }

    private func findings(by end: Moment) -> [Finding] {
        let (plan, roamers) = state.withLockedValue { ($0.plan, $0.roamers) }
        let judge = Judge(
            plan: plan, sights: sights(until: end), reads: readers.flatMap(\.reads),
            notes: (roamers + observers).map { ($0.user, $0.notes) }, end: end)
        return judge.findings()
    }

    /// Everybody of ``Cast/bystanders`` becomes idle and types, and all see it.
    private func probe() async throws {
        let probers = state.withLockedValue { $0.roamers }.filter { $0.user.text.hasPrefix(Cast.bystander) }
        for prober in probers {
            guard try await prober.whereabouts() != nil else {
                found(.connections, broken: "\(prober.user) is not connected at the end")
                continue
            }
            let idle = try await prober.say(.state(.idle))
            expect(.status(prober.user, .away), .change, since: idle, within: Self.changeLimit)
            let typing = try await prober.say(.typing(room, true))
            await seeSoon([.status(prober.user, .away), .types(prober.user, in: room)])
            let stop = try await prober.say(.typing(room, false))
            expect(.types(prober.user, in: room), .change, since: typing, within: Self.changeLimit, until: stop)
            expect(.typesNot(prober.user, in: room), .change, since: stop, within: Self.changeLimit)
            await seeSoon([.typesNot(prober.user, in: room)])
        }
    }

    /// Waits until it is seen by those who can, or should have been.
    private func seeSoon(_ things: [Expectation.Thing]) async {
        try? await eventually("the change is seen", within: Self.changeLimit) {
            let now = Moment.now
            return sights(until: now).filter { sight in !sight.away.contains { $0.upperBound >= now } }
                .allSatisfy { sight in things.allSatisfy { sight.settled($0, by: now) != nil } }
        }
    }
}
