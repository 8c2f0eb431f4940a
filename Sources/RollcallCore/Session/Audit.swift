// The audit: at intervals, each session's record is read and compared with the session's last decision, and written
// again if it differs. It repairs damage that causes no event, such as an evicted key, an operator's mistake or a lost
// message, and ends sessions that a revocation did not reach. If records are spread over several servers, it also
// detects that one server lost its data; the lease shows this only for the server that holds it.

internal import RollcallProtocol

/// A session whose record is compared with its last decision.
struct AuditedSession: Hashable {
    let session: Session
    let name: SessionName
    /// The decision that the record should hold.
    let sequence: Int64
}

/// The progress of a shard's audit.
struct Audit: Hashable, Sendable {
    private var last: Instant?
    /// Session reads that are due but not made yet, including fractions.
    private var owed = 0.0
    fileprivate var slot: Int32 = -1

    /// Returns how many of `count` sessions to read now, so that each is read once per cycle, and at least `least` with
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
    /// Handles the records of the sessions that were read.
    func audited(
        _ sessions: [AuditedSession], _ found: [DeviceStanding], of incarnation: Incarnation, at now: Instant
    ) {
        var current: [(session: Session, user: UserID, agrees: Bool, found: DeviceStanding)] = []
        for (audited, found) in zip(sessions, found) {
            guard !audited.session.isOver, let recorder = audited.session.recorder else { continue }
            guard !recorder.isRevoked(by: found.revoked) else {
                tokenRevoked(audited.session, ago: found.revoked.map(redis.time(at: now).since), at: now)
                continue
            }
            listen(to: audited.session, at: now)
            guard recorder.sequence == audited.sequence, recorder.isSettled(under: incarnation) else { continue }
            let agrees = recorder.agrees(with: found, under: incarnation)
            current.append((audited.session, recorder.name.user, agrees, found))
        }
        // Writing sessions again one by one could write a tablet in the background before the same user's active phone.
        if Self.hasForgotten(current.map { ($0.user, $0.found) }) { return host.assertAnew(.forgotten) }
        var mended = 0
        for (session, _, agrees, found) in current where !agrees {
            // A newer session of the device is no damage: its message to this one is on the way, or was lost.
            let isReplaced = found.record.map { $0.session != session.recorder?.name.session } ?? false
            if !isReplaced { mended += 1 }
            // One that was dismissed above may have had this one dropped, to limit the number that linger.
            session.recorder?.drifted()
            advance(session, at: now)
        }
        tally.auditMended += mended
        if mended > 0 { host.mended(mended) }
    }

    /// Handles a failed read. The audit comes round again; a session that waited for it does not wait any longer.
    func auditFailed(_ sessions: [AuditedSession], at now: Instant) {
        for audited in sessions { listen(to: audited.session, at: now) }
    }

    /// Whether a server has none of the records that belong on it. If all of them belong to one user, a mistake is more
    /// likely, and this returns false.
    private static func hasForgotten(_ found: [(user: UserID, standing: DeviceStanding)]) -> Bool {
        let spread = found.filter { $0.standing.place != nil }
        return Dictionary(grouping: spread, by: \.standing.place).values.contains { beside in
            beside.allSatisfy { $0.standing.record == nil } && Set(beside.map(\.user)).count > 1
        }
    }

    /// Requests the records of the next few sessions.
    func continueAudit(at now: Instant) {
        guard let incarnation = redis.incarnation else { return }
        var batch: [AuditedSession] = []
        let least = settings.isSpread ? ShardSettings.spreadAudit : 0
        let due = repairs.audit.due(of: sessions.count, atLeast: least, settings.bounds, at: now)
        tally.auditRead += due
        for _ in 0..<due {
            guard let session = sessions.next(after: repairs.audit.slot) else { break }
            if session.number <= repairs.audit.slot { tally.auditRounds += 1 }
            repairs.audit.slot = session.number
            guard let recorder = session.recorder, recorder.isSettled(under: incarnation) else { continue }
            batch.append(AuditedSession(session: session, name: recorder.name, sequence: recorder.sequence))
        }
        if !batch.isEmpty { audit(batch, under: incarnation) }
    }

    func audit(_ sessions: [AuditedSession], under incarnation: Incarnation) {
        store.audit(sessions.map(\.name), of: incarnation) { [self] reply in
            after { shard, now in
                switch reply {
                case .success(let found): shard.audited(sessions, found, of: incarnation, at: now)
                case .failure: shard.auditFailed(sessions, at: now)
                }
            }
        }
    }
}

extension DeviceRecorder {
    fileprivate func agrees(with found: DeviceStanding, under incarnation: Incarnation) -> Bool {
        guard found.isListed, let record = found.record else { return false }
        return record.state == state && record.incarnation == incarnation && record.session == name.session
            && record.sequence == sequence
    }
}
