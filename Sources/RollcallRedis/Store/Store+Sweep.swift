// What an incarnation holds, its sessions and their entries, and the sweep after the incarnation is dead.

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

    /// Adds an entry to the incarnation's list, before it is written.
    ///
    /// - Parameter reply: `false` if the call came later than `until` and the entry was not listed.
    public func record(
        _ entry: EntryName, of incarnation: Incarnation, until: Timestamp, reply: @escaping Reply<Bool>
    ) {
        call(
            .sessionsRecord, keys: [names.entries(incarnation)],
            arguments: [.time(until), .string(entry.memberText)], reply: reply
        ) { $0.integer.map { $0 == 1 } }
    }

    /// Whether the incarnation's list has an entry.
    public func isRecorded(_ entry: EntryName, of incarnation: Incarnation, reply: @escaping Reply<Bool>) {
        commands.send(RedisCommand("SISMEMBER", .string(names.entries(incarnation)), .string(entry.memberText))) {
            reply($0.orForeign(.integer(0)).map { $0.integer == 1 })
        }
    }

    /// Removes these items from the incarnation's lists, after their devices and lines were removed.
    public func unrecord(
        _ items: [ListItem], of incarnation: Incarnation, reply: @escaping Reply<Void> = { _ in }
    ) {
        let sessions = items.filter(\.isSession)
        let lists = [
            (names.sessions(incarnation), sessions), (names.entries(incarnation), items.filter { !$0.isSession }),
        ].filter { !$1.isEmpty }
        let gathering = Gathering<RedisValue>(lists.count) { reply($0.map { _ in }) }
        for (index, (list, items)) in lists.enumerated() {
            let members = items.map { RedisCommand.Argument.string($0.memberText) }
            commands.send(RedisCommand("SREM", arguments: [.string(list)] + members), reply: gathering.part(index))
        }
    }

    /// Claims the sweep of a dead incarnation, or renews the claimant's own claim, and reads at most `limit` items of each of
    /// its lists: none if none are left, `nil` if another worker runs the sweep.
    public func claimSweep(
        of dead: Incarnation, by claimant: Incarnation, limit: Int, reply: @escaping Reply<[ListItem]?>
    ) {
        call(
            .sweepClaim, keys: [names.sweeper(dead), names.sessions(dead), names.entries(dead)],
            arguments: [.string(claimant.name.string), .milliseconds(.seconds(1)), .integer(Int64(limit))],
            reply: reply
        ) { value in
            value.isNull ? .some(nil) : value.array?.compactMap { $0.text.flatMap(ListItem.init(member:)) }
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

    /// Removes a line of a dead incarnation if it is still that incarnation's.
    ///
    /// - Parameter until: the sweeper's own write deadline.
    public func sweep(
        _ entry: EntryName, of dead: Incarnation, until: Timestamp, reply: @escaping Reply<SweepOutcome>
    ) {
        let write = HereWrite(entry: entry, content: nil, incarnation: dead, sequence: 0, until: until)
        here(write, state: "dead") { result in
            reply(
                result.map {
                    switch $0.outcome {
                    case .gone, .here: .swept
                    case .late, .notAMember: .kept
                    case .expired: .expired
                    }
                }.orForeign(.kept))
        }
    }

    /// Removes a batch of what a dead incarnation holds, and then the items from its lists. Removing something twice does no
    /// harm, and what was not removed stays on its list.
    ///
    /// - Parameters:
    ///   - until: the sweeper's own write deadline at the moment at which the removals are sent.
    ///   - reply: how many devices went offline; the others belong to other sessions by now. `nil` if the call
    ///   came later than `until`, or if the incarnation is not dead, because Redis went back to an older state. Something
    ///   may then be left, and all items stay on their lists.
    public func sweep(
        _ items: [ListItem], of dead: Incarnation, until: @autoclosure @escaping () -> Timestamp,
        reply: @escaping Reply<Int?>
    ) {
        standing(of: dead) { result in
            switch result {
            case .success(let standing):
                self.sweep(items, of: dead, standing, until: until(), reply: reply)
            case .failure(let error): reply(.failure(error))
            }
        }
    }

    private func sweep(
        _ items: [ListItem], of dead: Incarnation, _ standing: WorkerStanding, until: Timestamp,
        reply: @escaping Reply<Int?>
    ) {
        guard standing.isDead else { return reply(.success(nil)) }
        let gathering = Gathering<SweepOutcome>(items.count) { result in
            switch result {
            case .success(let outcomes) where outcomes.contains(.expired): reply(.success(nil))
            case .success(let outcomes):
                let gone = zip(items, outcomes).count { $0.isSession && $1 == .swept }
                self.unrecord(items, of: dead) { reply($0.map { gone }) }
            case .failure(let error): reply(.failure(error))
            }
        }
        for (index, item) in items.enumerated() {
            switch item {
            case .session(let session):
                sweep(session, of: dead, lastBeat: standing.beat, until: until, reply: gathering.part(index))
            case .entry(let entry): sweep(entry, of: dead, until: until, reply: gathering.part(index))
            }
        }
    }
}

extension ListItem {
    fileprivate var isSession: Bool { if case .session = self { true } else { false } }
}

extension SessionName {
    /// The session as a member of the set `worker:{INCARNATION}:sessions`.
    var member: RedisCommand.Argument { .string(memberText) }
}
