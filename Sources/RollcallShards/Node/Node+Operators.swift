// Requests of operators to a node. Other workers receive them on their channels, and the user's record shows when they
// are done.

package import RollcallCore
package import RollcallModel
internal import RollcallRedis

extension Node: OperatorAccess {
    /// How long a worker may take to end a session, and how often the record is checked.
    private static let patience = Duration.seconds(2)
    private static let look = Duration.milliseconds(50)

    package func explanation(of user: UserID) async throws -> Explanation {
        let report = try await report(on: user)
        return try await first { $0.shard.explanation(of: report, at: $0.now) }
    }

    package func workers() async throws -> WorkersReport {
        try await ask { store, reply in store.workers(reply: reply) }
    }

    package func sendAway(_ user: UserID, device: DeviceID?) async throws -> SentAway {
        let there = try await report(on: user).present.filter { device == nil || $0.device == device }
        let sessions = Set(there.map(\.record.session))
        let left = try await dismiss(sessions, of: user)
        return SentAway(
            sentAway: there.filter { !left.contains($0.record.session) }.map(\.device),
            unreached: there.filter { left.contains($0.record.session) }.map(\.device))
    }

    package func revokeTokens(of user: UserID) async throws -> SentAway {
        // Revoke first: every session is then either in the record that is read next, or connects later and is refused.
        let _: Timestamp = try await ask { store, reply in store.revokeTokens(of: user, reply: reply) }
        return try await sendAway(user, device: nil)
    }

    package func erase(_ user: UserID, conversations: [ConversationID]) async throws -> Bool {
        try await demandThatAllIsKnown()
        // Revokes again, to refuse a session that a worker restores after an outage and that no record names.
        let _: Timestamp = try await ask { store, reply in store.revokeTokens(of: user, reply: reply) }
        for conversation in conversations { try await removeMember(user, of: conversation) }
        let deadline = ContinuousClock.now + Self.patience
        repeat {
            _ = try await sendAway(user, device: nil)
            let report = try await report(on: user)
            try await demandThatAllIsKnown()
            if try await ask({ store, reply in store.erase(report, reply: reply) }) { return true }
        } while ContinuousClock.now < deadline
        return false
    }

    /// After an outage, which a worker that has just started may have missed, sessions may exist that no record names.
    /// Such a session would write again what is erased now.
    private func demandThatAllIsKnown() async throws {
        if let rest = try await first({ $0.shard.settles(at: $0.now) }) { throw Unsettled(retryAfter: rest) }
    }

    private func report(on user: UserID) async throws -> UserReport {
        let own = try await first { $0.shard.known(at: $0.now).own }
        return try await ask { store, reply in store.report(on: user, own: own, reply: reply) }
    }

    /// Tells the workers of these sessions to end them, until they have or the timeout passes. A worker with a new
    /// incarnation is told again.
    ///
    /// - Returns: The remaining sessions.
    private func dismiss(_ sessions: Set<SessionID>, of user: UserID) async throws -> Set<SessionID> {
        let deadline = ContinuousClock.now + Self.patience
        while true {
            let report = try await report(on: user)
            let left = report.present.filter { sessions.contains($0.record.session) }
            let standings = report.workers.standings
            let reachable = left.filter { standings[$0.record.incarnation]?.isDead == false }
            guard !reachable.isEmpty, ContinuousClock.now < deadline else {
                return Set(left.map(\.record.session))
            }
            for (device, record) in reachable { try await tell(user, device, record) }
            try await Task.sleep(for: Self.look)
        }
    }

    private func tell(_ user: UserID, _ device: DeviceID, _ record: DeviceRecord) async throws {
        let notice = WorkerNotice.sentAway(
            user: user, device: device, session: ByteString("\(record.began.milliseconds)-\(record.session)"))
        let _: Bool = try await ask { store, reply in
            store.announce(notice, to: record.incarnation, reply: reply)
        }
    }
}
