// What an incarnation answers for, and how others take it over when the incarnation is dead.

public import RollcallModel

/// The part of a dead incarnation's sessions to be swept next.
public enum SweepBatch: Hashable, Sendable {
    /// Another worker is at it.
    case held
    /// These; none are left if empty.
    case sessions([SessionName])
}

extension Store {
    /// Notes that the incarnation answers for these sessions. Acknowledged before the first write of any of them, be it
    /// that there is no list because of a foreign key: reads find what a sweep then misses.
    ///
    /// - Parameter reply: `false` if it came later than `until`; then they are not listed.
    public func record(
        _ sessions: [SessionName], of incarnation: Incarnation, until: Timestamp, reply: @escaping Reply<Bool>
    ) {
        let key = names.sessions(incarnation)
        inBatches(sessions.map(\.member), reply: { reply($0.map { !$0.contains(false) }) }) { batch, done in
            self.call(
                .sessionsRecord, keys: [key], arguments: [.time(until), self.longestDeadline] + batch,
                reply: { done($0.orForeign(true)) }
            ) { $0.integer.map { $0 == 1 } }
        }
    }

    /// Strikes these sessions off, after their devices' removals.
    public func unrecord(
        _ sessions: [SessionName], of incarnation: Incarnation, reply: @escaping Reply<Void> = { _ in }
    ) {
        strike(sessions.map(\.member), of: incarnation, reply: reply)
    }

    /// Claims what a dead incarnation left, or goes on with one's own claim: at most `limit` of its sessions.
    public func claimSweep(
        of dead: Incarnation, by claimant: Incarnation, limit: Int, reply: @escaping Reply<SweepBatch>
    ) {
        call(
            .sweepClaim, keys: [names.sweeper(dead), names.sessions(dead)],
            .string(claimant.name), .milliseconds(.seconds(1)), .integer(Int64(limit)),
            reply: { (result: Result<[RedisValue]?, RedisError>) in
                switch result.orForeign([]) {
                case .success(nil): reply(.success(.held))
                case .success(let members?):
                    self.batchClaimed(members, of: dead, by: claimant, limit: limit, reply: reply)
                case .failure(let error): reply(.failure(error))
                }
            },
            read: { $0.isNull ? .some(nil) : $0.array })
    }

    /// Takes one device of a dead incarnation offline, if it is that incarnation's and that session's still.
    ///
    /// - Parameters:
    ///   - lastBeat: the incarnation's last heartbeat, at which the device was there at the latest.
    ///   - until: the sweeper's own write deadline.
    public func sweep(
        _ session: SessionName, of dead: Incarnation, lastBeat: Timestamp?, until: Timestamp,
        reply: @escaping Reply<SweepOutcome>
    ) {
        call(
            .sweepDevice, keys: [names.presence(session.user)],
            .string(session.user.text), .string(session.device.text), .string(dead.name),
            .string(session.session.random), .time(orZero: lastBeat), .time(until),
            .milliseconds(settings.retention), longestDeadline, reply: { reply($0.orForeign(.kept)) }
        ) { $0.array?.first?.string.flatMap(SweepOutcome.init) }
    }

    /// Takes a batch of a dead incarnation's devices offline, and strikes it off its list: what is swept twice does no
    /// harm, what is not swept stays on the list.
    ///
    /// - Parameter reply: how many of them went offline, the others being elsewhere by now; `nil` if it came later than
    ///   `until`, or if the incarnation is not dead after all, in a Redis that went back; then some may be left, and all
    ///   are on the list.
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

    private func batchClaimed(
        _ members: [RedisValue], of dead: Incarnation, by claimant: Incarnation, limit: Int,
        reply: @escaping Reply<SweepBatch>
    ) {
        let sessions = members.compactMap { $0.string.flatMap(SessionName.init(member:)) }
        guard sessions.isEmpty, !members.isEmpty else { return reply(.success(.sessions(sessions))) }
        // Names that are none would come back for ever, and hide those that are.
        let strange = members.compactMap { member -> RedisCommand.Argument? in
            if case .bulk(let bytes) = member { .bytes(bytes) } else { nil }
        }
        strike(strange, of: dead) { result in
            switch result {
            case .success: self.claimSweep(of: dead, by: claimant, limit: limit, reply: reply)
            case .failure(let error): reply(.failure(error))
            }
        }
    }

    private func strike(
        _ members: [RedisCommand.Argument], of incarnation: Incarnation, reply: @escaping Reply<Void>
    ) {
        let key = RedisCommand.Argument.string(names.sessions(incarnation))
        inBatches(members, reply: { reply($0.map { _ in }) }) { batch, done in
            self.commands.send(RedisCommand("SREM", arguments: [key] + batch)) { done($0.orForeign(.integer(0))) }
        }
    }

    /// Runs `body` for at most a thousand of `members` at a time, all at once; replies when all have.
    private func inBatches<Value>(
        _ members: [RedisCommand.Argument], reply: @escaping Reply<[Value]>,
        body: ([RedisCommand.Argument], @escaping Reply<Value>) -> Void
    ) {
        let size = 1000
        let gathering = Gathering<Value>((members.count + size - 1) / size, reply: reply)
        for (index, start) in stride(from: 0, to: members.count, by: size).enumerated() {
            body(Array(members[start..<min(start + size, members.count)]), gathering.part(index))
        }
    }
}

extension SessionName {
    /// As it stands in `worker:{INCARNATION}:sessions`.
    var member: RedisCommand.Argument { .string(memberText) }
}
