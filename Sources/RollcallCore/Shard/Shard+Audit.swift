// The audit: now and then each session's record is compared with what the session decided, and said again where it is
// not so. It mends what nobody was told of: an evicted key, an operator's slip, a notice that got lost; and ends whom a
// revocation did not reach.

public import RollcallModel

/// Where the audit of a shard stands.
struct Audit: Hashable, Sendable {
    private var last: Instant?
    /// The part of a session that time has earned and that was not read yet.
    private var owed = 0.0
    fileprivate var slot: Int32 = -1

    /// How many of `count` sessions are due by now, for each to be read once in ``ShardSettings/auditCycle``.
    fileprivate mutating func due(of count: Int, at now: Instant) -> Int {
        let elapsed = last.map { now - $0 } ?? .zero
        last = now
        owed = min(owed + Double(count) * (elapsed / ShardSettings.auditCycle), Double(count))
        let due = min(Int(owed), ShardSettings.auditBatch)
        owed -= Double(due)
        return due
    }
}

extension Shard {
    /// The records of some sessions were read.
    public mutating func audited(
        _ sessions: [AuditedSession], _ found: [DeviceStanding], of incarnation: Incarnation, at now: Instant
    ) -> [ShardAction] {
        for (audited, found) in zip(sessions, found) {
            guard let recorder = self.sessions[audited.session]?.recorder, recorder.name == audited.name else {
                continue
            }
            guard !recorder.isRevoked(by: found.revoked) else {
                dismiss(audited.session, .badToken, at: now)
                continue
            }
            guard recorder.sequence == audited.sequence, recorder.isSettled(under: incarnation),
                !recorder.agrees(with: found, under: incarnation)
            else { continue }
            tally.auditMended += 1
            self.sessions[audited.session]?.recorder?.drifted()
            advance(audited.session, at: now)
        }
        return take()
    }

    /// Asks for the next few sessions, in turn.
    mutating func continueAudit(at now: Instant) {
        guard let incarnation else { return }
        var batch: [AuditedSession] = []
        let due = audit.due(of: sessions.count, at: now)
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
