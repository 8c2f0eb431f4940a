// The audit: now and then each session's record is compared with what the session decided, and said again where it is
// not so. It mends what nobody was told of: an evicted key, an operator's slip, a notice that got lost; and ends whom a
// revocation did not reach. Where records lie with several servers it also finds out that one of them has lost everything:
// a lease is lost with its own server alone.

public import RollcallModel

/// Where the audit of a shard stands.
struct Audit: Hashable, Sendable {
    private var last: Instant?
    /// The part of a session that time has earned and that was not read yet.
    private var owed = 0.0
    fileprivate var slot: Int32 = -1

    /// How many of `count` sessions are due by now, for each to be read once in a cycle, and for so many to be read with
    /// each heartbeat.
    fileprivate mutating func due(
        of count: Int, atLeast least: Int, _ bounds: ShardSettings.Bounds, at now: Instant
    ) -> Int {
        let elapsed = last.map { now - $0 } ?? .zero
        last = now
        owed = min(owed + Double(count) * (elapsed / bounds.auditCycle), Double(count))
        let due = min(max(Int(owed), min(least, count)), bounds.auditBatch)
        owed = max(0, owed - Double(due))
        return due
    }
}

extension Shard {
    /// The records of some sessions were read.
    public mutating func audited(
        _ sessions: [AuditedSession], _ found: [DeviceStanding], of incarnation: Incarnation, at now: Instant
    ) -> [ShardAction] {
        var current: [(session: SessionKey, user: UserID, agrees: Bool, found: DeviceStanding)] = []
        for (audited, found) in zip(sessions, found) {
            guard let recorder = self.sessions[audited.session]?.recorder, recorder.name == audited.name else {
                continue
            }
            guard !recorder.isRevoked(by: found.revoked) else {
                dismiss(audited.session, .badToken, at: now)
                continue
            }
            guard recorder.sequence == audited.sequence, recorder.isSettled(under: incarnation) else { continue }
            let agrees = recorder.agrees(with: found, under: incarnation)
            current.append((audited.session, recorder.name.user, agrees, found))
        }
        // What is mended one by one may be a tablet in the background before the phone beside it.
        if Self.hasForgotten(current.map { ($0.user, $0.found) }) { return take() + [.assertAnew(.forgotten)] }
        for (session, _, agrees, _) in current where !agrees {
            tally.auditMended += 1
            self.sessions[session]?.recorder?.drifted()
            advance(session, at: now)
        }
        return take()
    }

    /// Whether one of several servers has none of the records that should lie there. If that is a single user's, it is
    /// rather a slip.
    private static func hasForgotten(_ found: [(user: UserID, standing: DeviceStanding)]) -> Bool {
        let spread = found.filter { $0.standing.place != nil }
        return Dictionary(grouping: spread, by: \.standing.place).values.contains { beside in
            beside.allSatisfy { $0.standing.record == nil } && Set(beside.map(\.user)).count > 1
        }
    }

    /// Asks for the next few sessions, in turn.
    mutating func continueAudit(at now: Instant) {
        guard let incarnation else { return }
        var batch: [AuditedSession] = []
        let least = settings.isSpread ? ShardSettings.spreadAudit : 0
        let due = audit.due(of: sessions.count, atLeast: least, settings.bounds, at: now)
        tally.auditRead += due
        for _ in 0..<due {
            guard let key = sessions.next(after: audit.slot) else { break }
            if key.index <= audit.slot { tally.auditRounds += 1 }
            audit.slot = key.index
            guard let recorder = sessions[key]?.recorder, recorder.isSettled(under: incarnation) else { continue }
            batch.append(AuditedSession(session: key, name: recorder.name, sequence: recorder.sequence))
        }
        if !batch.isEmpty { actions.append(.audit(batch, of: incarnation)) }
    }
}

extension DeviceRecorder {
    fileprivate func agrees(with found: DeviceStanding, under incarnation: Incarnation) -> Bool {
        guard found.isListed, let record = found.record else { return false }
        return record.state == state && record.incarnation == incarnation && record.session == name.session
            && record.sequence == sequence
    }
}
