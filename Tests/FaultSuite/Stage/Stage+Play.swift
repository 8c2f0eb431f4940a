// A round: the fault, its end, a check that everything works again, and the verdict.

internal import Harness
internal import NIOConcurrencyHelpers
internal import RollcallClient
internal import TestSupport

extension Stage {
    /// Runs a fault.
    ///
    /// - Throws: an error if the fault could not be caused.
    func play(_ fault: Fault) async throws -> [Finding] {
        let club = try await Club(on: self)
        let (agent, bot) = (try naming.user("agent"), try naming.user("bot"))
        // The second ends while the fault lasts.
        for (user, seconds) in [(agent, 300), (bot, 3)] {
            try await Backend(hosts: hosts).enter(user, in: room, seconds: seconds)
        }
        if !isStill { club.begin() }
        try await fault.body(self)
        if isStill { club.begin() }
        try await waitUntilOver()
        try await club.settle()
        let probed = Moment.now
        isOver(at: probed)
        state.withLockedValue { state in
            for index in state.plan.expectations.indices where state.plan.expectations[index].until == nil {
                state.plan.expectations[index].until = probed
            }
        }
        try await probe()
        try await club.probe()
        try await checkObservers(since: probed)
        try await checkServers(agent, bot)
        checkStays()
        return findings(by: .now)
    }

    private func waitUntilOver() async throws {
        let (plan, looked) = state.withLockedValue { ($0.plan, $0.lookUntil) }
        let sighted = plan.blind.map { $0.span.upperBound + Promise.convergenceLimit }
        let end = (plan.expectations.map { $0.until ?? $0.deadline } + sighted + [looked]).max() ?? .now
        try await Task.sleep(until: end + .milliseconds(200), clock: .continuous)
    }

    /// Checks that the observer of each running worker is connected and that the worker answers reads. Otherwise,
    /// promises would hold only because nothing was observed.
    private func checkObservers(since moment: Moment) async throws {
        for (host, observer, reader) in zip(hosts, zip(observers, readers)).map({ ($0, $1.0, $1.1) }) {
            guard host.running != nil else { continue }
            if try await observer.whereabouts() == nil {
                found(.connections, broken: "host \(host.number)'s observer is not connected at the end")
            }
            guard !state.withLockedValue({ $0.users.isEmpty }) else { continue }
            try? await eventually("a read is answered", within: .seconds(2)) {
                reader.reads.contains { $0.began >= moment && $0.statuses != nil }
            }
            if !reader.reads.contains(where: { $0.began >= moment && $0.statuses != nil }) {
                found(.other, broken: "host \(host.number) answers no reads at the end")
            }
        }
    }

    /// Checks that what an app's server said is still there, and what has ended is not.
    private func checkServers(_ agent: UserID, _ bot: UserID) async throws {
        // A cluster may lose what a server said with one of its primaries.
        let mayBeLost = redis.isCluster && dataLostSince != nil
        func isRight(_ users: [UserID]) -> Bool { (mayBeLost || users.contains(agent)) && !users.contains(bot) }
        for host in hosts where host.running != nil {
            var users: [UserID]?
            try? await eventually("what a server says holds", within: .seconds(3)) {
                users = await Backend.here(in: room, asking: host)
                return users.map(isRight) ?? false
            }
            let isRight = users.map(isRight) ?? false
            let what = users.map { "\($0.map(\.escaped)) in the room" } ?? "nobody, without an answer"
            found(.other, broken: isRight ? nil : "host \(host.number) has \(what), and servers say \(agent.escaped)")
        }
    }

    /// Checks that nobody was put out whom the app's server lets in.
    private func checkStays() {
        for roamer in observers + state.withLockedValue({ $0.roamers }) {
            let isOut = roamer.notes.contains { if case .removed(room) = $0.event { true } else { false } }
            found(.audience, broken: isOut ? "\(roamer.user.escaped) was removed from the room" : nil)
        }
    }

    private func findings(by end: Moment) -> [Finding] {
        var (plan, roamers) = state.withLockedValue { ($0.plan, $0.roamers) }
        plan.restarted = hosts.flatMap { host in host.restarts.map { (host.number, $0) } }
        plan.typingTimeout = settings.expiry + .seconds(2)
        let judge = Judge(
            plan: plan, sights: sights(until: end), reads: readers.flatMap(\.reads),
            notes: (roamers + observers).map { ($0.user, $0.notes) }, end: end)
        return judge.findings()
    }

    /// Makes every user named ``Cast/bystander`` idle and typing, and checks that all observers see it.
    private func probe() async throws {
        let probers = state.withLockedValue { $0.roamers }.filter { $0.user.text.hasPrefix(Cast.bystander) }
        for prober in probers {
            guard try await prober.whereabouts() != nil else {
                found(.connections, broken: "\(prober.user) is not connected at the end")
                continue
            }
            let idle = try await prober.say(.state(.idle))
            expect(.status(prober.user, .away), .change, since: idle, within: Promise.changeLimit)
            let typing = try await prober.say(.typing(room, true))
            await seeSoon([.status(prober.user, .away), .types(prober.user, in: room)])
            // Observers may see the stop before this thread knows that it was written.
            let beforeStop = Moment.now
            let stop = try await prober.say(.typing(room, false))
            expect(
                .types(prober.user, in: room), .change, since: typing, within: Promise.changeLimit, until: beforeStop)
            expect(.typesNot(prober.user, in: room), .change, since: stop, within: Promise.changeLimit)
            await seeSoon([.typesNot(prober.user, in: room)])
        }
    }

    /// Waits until all observers see this that can, or until they should have.
    func seeSoon(_ things: [Expectation.Thing]) async {
        try? await eventually("the change is seen", within: .seconds(1)) {
            let now = Moment.now
            return sights(until: now).filter { sight in !sight.away.contains { $0.upperBound >= now } }
                .allSatisfy { sight in things.allSatisfy { sight.settled($0, by: now) != nil } }
        }
    }
}
