import RedisTwin
import RollcallCore
import RollcallModel
import RollcallRedis
import TestSupport
import Testing

/// The store on a private `redis-server`, behind the contract's calls.
final class RealRedis: StoreContract {
    private let store: StoreUnderTest
    private let clock: SettableClock?
    private let listener: Overhearing

    init(settings: TwinRedis.Settings) async throws {
        clock = try SettableClock.isAvailable ? SettableClock() : nil
        store = try await StoreUnderTest(
            settings: Store.Settings(
                retention: settings.retention, typingExpiry: settings.typingExpiry,
                openByDefault: settings.openByDefault), clock: clock)
        listener = try await Overhearing(store.redis)
    }

    func heartbeat(_ beat: LeaseKeeper.Beat, lease: Duration) async throws -> LeaseSnapshot {
        let (mode, incarnation): (Heartbeat.Mode, Incarnation) =
            switch beat {
            case .begin(let incarnation): (.begin, incarnation)
            case .renew(let incarnation): (.renew, incarnation)
            case .end(let incarnation, let after): (.end(after: after), incarnation)
            }
        return try await store.beat(mode, incarnation, lease: lease)
    }

    func standing(of incarnation: Incarnation) async throws -> WorkerStanding {
        try await store.standing(of: incarnation)
    }

    func forget(_ incarnation: Incarnation) async throws -> Bool { try await store.forget(incarnation) }

    func record(_ names: [SessionName], of incarnation: Incarnation, until: Timestamp) async throws -> Bool {
        try await store.call { $0.record(names, of: incarnation, until: until, reply: $1) }
    }

    func unrecord(_ names: [SessionName], of incarnation: Incarnation) async throws {
        try await store.call { $0.unrecord(names, of: incarnation, reply: $1) }
    }

    /// Redis picks at random; sorting makes the result comparable with the twin's.
    func claimSweep(of dead: Incarnation, by claimant: Incarnation, limit: Int) async throws -> [SessionName]? {
        try await store.claim(of: dead, by: claimant, limit: limit)?.sorted {
            ($0.user, $0.device, $0.session.random) < ($1.user, $1.device, $1.session.random)
        }
    }

    func sweep(
        _ name: SessionName, of dead: Incarnation, lastBeat: Timestamp?, until: Timestamp
    ) async throws -> SweepOutcome {
        try await store.sweep(name, of: dead, lastBeat: lastBeat, until: until)
    }

    func sweep(_ names: [SessionName], of dead: Incarnation, until: Timestamp) async throws -> Bool {
        try await store.call { $0.sweep(names, of: dead, until: until, reply: $1) } != nil
    }

    func write(_ write: DeviceWrite) async throws -> DeviceWritten { try await store.write(write) }

    func announceReplaced(
        _ previous: DeviceWritten.PreviousSession, user: UserID, device: DeviceID
    ) async throws {
        try await store.call { $0.announceReplaced(previous, user: user, device: device, reply: $1) }
    }

    func revokeTokens(of user: UserID, issuedBefore moment: Timestamp?) async throws -> Timestamp {
        try await store.call { $0.revokeTokens(of: user, issuedBefore: moment, reply: $1) }
    }

    func presence(of users: [UserID], known: KnownWorkers) async throws -> PresenceSnapshot {
        try await store.call { $0.presence(of: users, known: known, reply: $1) }
    }

    func audit(_ names: [SessionName], of incarnation: Incarnation) async throws -> [DeviceStanding] {
        try await store.call { $0.audit(names, of: incarnation, reply: $1) }
    }

    func signalTyping(_ signal: TypingSignal) async throws -> TypingOutcome {
        try await store.call { $0.signalTyping(signal, reply: $1) }
    }

    func stopTyping(_ stop: TypingSignal) async throws -> TypingStopOutcome {
        try await store.call { $0.stopTyping(stop, reply: $1) }
    }

    func room(
        _ conversation: ConversationID, users: [UserID], withTyping: Bool, mostMembers: Int
    ) async throws -> RoomSnapshot {
        try await store.room(conversation, users: users, withTyping: withTyping, mostMembers: mostMembers)
    }

    func members(of conversation: ConversationID) async throws -> [UserID: String]? {
        try await store.call { $0.members(of: conversation, reply: $1) }
    }

    func setMembers(_ members: [UserID: String], of conversation: ConversationID) async throws {
        try await store.setMembers(members, of: conversation)
    }

    func setMember(_ user: UserID, name: String, of conversation: ConversationID) async throws {
        try await store.call { $0.setMember(user, name: name, of: conversation, reply: $1) }
    }

    func removeMember(_ user: UserID, of conversation: ConversationID) async throws {
        try await store.call { $0.removeMember(user, of: conversation, reply: $1) }
    }

    func deleteMembers(of conversation: ConversationID) async throws {
        try await store.call { $0.deleteMembers(of: conversation, reply: $1) }
    }

    func published() async throws -> [Published] {
        let mark = String(UInt64.random(in: 0 ... .max))
        try await store.command("PUBLISH", Overhearing.mark, mark)
        return try await listener.heard(before: mark)
    }

    func keys() async throws -> [String: StoredKey] { try await store.keys() }

    func time() async throws -> Timestamp { try await store.now() }

    func wait(until moment: Timestamp) async throws {
        try await eventually("Redis's clock has come to \(moment.milliseconds)", every: .milliseconds(1)) {
            try await time() >= moment
        }
    }

    /// Keys that have expired by the new clock are deleted at once, as happens soon in any Redis.
    func setClock(by step: Duration) async throws {
        try await dropExpired()
        try #require(clock).advance(by: step)
        try await dropExpired()
    }

    /// Deletes every key that has expired by now. Redis chooses the time of deletion itself, and after a step of the
    /// clock, an expired key may be valid again.
    private func dropExpired() async throws {
        try await store.command("SCAN", "0", "COUNT", "1000000")
    }

    func plant(_ record: PresenceRecord) async throws {
        try await store.command("HSET", arguments: [KeyNames().presence(record.user)] + record.hash)
    }

    func flush() async throws { try await store.command("FLUSHALL") }
}
