// The sessions that an incarnation holds, and their sweep after the incarnation is dead.

public import RollcallProtocol

extension Store {
    /// Adds up to 1,000 sessions to the incarnation's list. Callers wait for the reply before they write any of these
    /// sessions.
    ///
    /// - Parameter reply: `false` if the call came later than `until` and the sessions were not listed.
    public func record(
        _ sessions: [SessionName], of incarnation: Incarnation, until: Timestamp, reply: @escaping Reply<Bool>
    ) {
        call(
            .sessionsRecord, keys: [names.sessions(incarnation)], arguments: [.time(until)] + sessions.map(\.member),
            reply: reply
        ) { $0.integer.map { $0 == 1 } }
    }

    /// Removes these sessions from the list, after their devices were removed.
    public func unrecord(
        _ sessions: [SessionName], of incarnation: Incarnation, reply: @escaping Reply<Void> = { _ in }
    ) {
        let list = RedisCommand.Argument.string(names.sessions(incarnation))
        commands.send(RedisCommand("SREM", arguments: [list] + sessions.map(\.member))) { reply($0.map { _ in }) }
    }

    /// Claims the sweep of a dead incarnation, or renews the claimant's own claim, and reads at most `limit` of its
    /// sessions: none if none are left, `nil` if another worker runs the sweep.
    public func claimSweep(
        of dead: Incarnation, by claimant: Incarnation, limit: Int, reply: @escaping Reply<[SessionName]?>
    ) {
        call(
            .sweepClaim, keys: [names.sweeper(dead), names.sessions(dead)],
            arguments: [.string(claimant.name.string), .milliseconds(.seconds(1)), .integer(Int64(limit))],
            reply: reply
        ) { value in
            value.isNull ? .some(nil) : value.array?.compactMap { $0.text.flatMap(SessionName.init(member:)) }
        }
    }

    /// Takes one device of a dead incarnation offline if it still belongs to that incarnation and session.
    ///
    /// - Parameters:
    ///   - lastBeat: the incarnation's last heartbeat, which is when the device was last known to be present.
    ///   - until: the sweeper's own write deadline.
    public func sweep(
        _ session: SessionName, of dead: Incarnation, lastBeat: Timestamp?, until: Timestamp,
        reply: @escaping Reply<SweepOutcome>
    ) {
        let kept = settings.keptEvents.map { [RedisCommand.Argument.integer(Int64($0))] } ?? []
        call(
            .sweepDevice, keys: keys(names.presence(session.user)),
            arguments: [
                .string(session.user.text), .string(session.device.text), .string(dead.name.string),
                .string(session.session.random.string), .time(orZero: lastBeat), .time(until),
                .milliseconds(settings.retention),
            ] + kept, reply: { reply($0.orForeign(.kept)) }
        ) { $0.array?.first?.text.flatMap(SweepOutcome.init(word:)) }
    }

    /// Takes a batch of a dead incarnation's devices offline, and then removes the sessions from its list. Sweeping a
    /// device twice does no harm, and one that was not swept stays on the list.
    ///
    /// - Parameter reply: how many devices went offline; the others belong to other sessions by now. `nil` if the call
    ///   came later than `until`, or if the incarnation is not dead, because Redis went back to an older state. Some
    ///   devices may then be left, and all sessions stay on the list.
    public func sweep(
        _ sessions: [SessionName], of dead: Incarnation, until: Timestamp, reply: @escaping Reply<Int?>
    ) {
        standing(of: dead) { result in
            switch result {
            case .success(let standing):
                self.sweep(sessions, of: dead, standing, until: until, reply: reply)
            case .failure(let error): reply(.failure(error))
            }
        }
    }

    private func sweep(
        _ sessions: [SessionName], of dead: Incarnation, _ standing: WorkerStanding, until: Timestamp,
        reply: @escaping Reply<Int?>
    ) {
        guard standing.isDead else { return reply(.success(nil)) }
        let gathering = Gathering<SweepOutcome>(sessions.count) { result in
            switch result {
            case .success(let outcomes) where outcomes.contains(.expired): reply(.success(nil))
            case .success(let outcomes):
                let gone = outcomes.count { $0 == .swept }
                self.unrecord(sessions, of: dead) { reply($0.map { gone }) }
            case .failure(let error): reply(.failure(error))
            }
        }
        for (index, session) in sessions.enumerated() {
            sweep(session, of: dead, lastBeat: standing.beat, until: until, reply: gathering.part(index))
        }
    }
}

extension SessionName {
    /// The session as a member of the set `worker:{INCARNATION}:sessions`.
    var member: RedisCommand.Argument { .string(memberText) }
}
