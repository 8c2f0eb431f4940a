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
    /// The number of the session that was read last.
    private var slot: Int32 = -1

    /// Returns how many of `count` sessions to read now, so that each is read once per cycle, and at least `least` with
    /// each heartbeat.
    mutating func due(
        of count: Int, atLeast least: Int, _ bounds: ShardSettings.Bounds, at now: Instant
    ) -> Int {
        let elapsed = last.map { now - $0 } ?? .zero
        last = now
        owed = min(owed + Double(count) * (elapsed / bounds.auditCycle), Double(count))
        let due = min(max(Int(owed), min(least, count)), bounds.auditBatch)
        owed = max(0, owed - Double(due))
        return due
    }

    /// Returns the session to read next, and whether the audit begins again with it.
    mutating func next(of table: SessionTable) -> (session: Session, isNewRound: Bool)? {
        guard let session = table.next(after: slot) else { return nil }
        defer { slot = session.number }
        return (session, session.number <= slot)
    }

    /// Whether a server has none of the records that belong on it. If all of them belong to one user, a mistake is more
    /// likely, and this returns false.
    static func hasForgotten(_ found: [(user: UserID, standing: DeviceStanding)]) -> Bool {
        let spread = found.filter { $0.standing.place != nil }
        return Dictionary(grouping: spread, by: \.standing.place).values.contains { beside in
            beside.allSatisfy { $0.standing.record == nil } && Set(beside.map(\.user)).count > 1
        }
    }
}

extension DeviceRecorder {
    func agrees(with found: DeviceStanding, under incarnation: Incarnation) -> Bool {
        guard found.isListed, let record = found.record else { return false }
        return record.state == state && record.incarnation == incarnation && record.session == name.session
            && record.sequence == sequence
    }
}
