import RedisTwin
import RollcallCore
import RollcallModel
import RollcallRedis

@testable import struct RedisTwin.TwinRedis

/// The twin behind the contract's calls. Its time changes only when a test sets it.
actor TwinUnderTest: StoreContract {
    private var twin: TwinRedis

    init(settings: TwinRedis.Settings) {
        twin = TwinRedis(settings: settings, time: Timestamp(milliseconds: 1_784_600_000_000))
        twin.hostTime = twin.time
    }

    func heartbeat(_ beat: LeaseKeeper.Beat, lease: Duration) -> LeaseSnapshot {
        twin.heartbeat(beat, lease: lease)
    }

    func standing(of incarnation: Incarnation) -> WorkerStanding { twin.standing(of: incarnation) }

    func forget(_ incarnation: Incarnation) -> Bool { twin.forget(incarnation) }

    func record(_ names: [SessionName], of incarnation: Incarnation, until: Timestamp) -> Bool {
        twin.record(names, of: incarnation, until: until)
    }

    func unrecord(_ names: [SessionName], of incarnation: Incarnation) { twin.unrecord(names, of: incarnation) }

    func claimSweep(of dead: Incarnation, by claimant: Incarnation, limit: Int) -> [SessionName]? {
        twin.claimSweep(of: dead, by: claimant, limit: limit)
    }

    func sweep(
        _ name: SessionName, of dead: Incarnation, lastBeat: Timestamp?, until: Timestamp
    ) -> SweepOutcome {
        twin.sweep(name, of: dead, lastBeat: lastBeat, until: until)
    }

    func sweep(_ names: [SessionName], of dead: Incarnation, until: Timestamp) -> Bool {
        twin.sweep(names, of: dead, until: until)
    }

    func write(_ write: DeviceWrite) -> DeviceWritten { twin.write(write) }

    func announceReplaced(_ previous: DeviceWritten.PreviousSession, user: UserID, device: DeviceID) {
        twin.announceReplaced(previous, user: user, device: device)
    }

    func revokeTokens(of user: UserID, issuedBefore moment: Timestamp?) -> Timestamp {
        twin.revokeTokens(of: user, issuedBefore: moment)
    }

    func presence(of users: [UserID], known: KnownWorkers) -> PresenceSnapshot {
        twin.presence(of: users, known: known)
    }

    func audit(_ names: [SessionName], of incarnation: Incarnation) -> [DeviceStanding] {
        twin.audit(names, of: incarnation)
    }

    func signalTyping(_ signal: TypingSignal) -> TypingOutcome { twin.signalTyping(signal) }

    func stopTyping(_ stop: TypingSignal) -> TypingStopOutcome { twin.stopTyping(stop) }

    func room(
        _ conversation: ConversationID, users: [UserID], withTyping: Bool, mostMembers: Int
    ) -> RoomSnapshot {
        twin.room(conversation, users: users, withTyping: withTyping, mostMembers: mostMembers)
    }

    func members(of conversation: ConversationID) -> [UserID: String]? { twin.members(of: conversation) }

    func setMembers(_ members: [UserID: String], of conversation: ConversationID) {
        twin.setMembers(members, of: conversation)
    }

    func setMember(_ user: UserID, name: String, of conversation: ConversationID) {
        twin.setMember(user, name: name, of: conversation)
    }

    func removeMember(_ user: UserID, of conversation: ConversationID) {
        twin.removeMember(user, of: conversation)
    }

    func deleteMembers(of conversation: ConversationID) { twin.deleteMembers(of: conversation) }

    func published() -> [Published] {
        defer { twin.published = [] }
        return twin.published
    }

    func keys() -> [String: StoredKey] { twin.keys(KeyNames()) }

    func time() -> Timestamp { twin.time }

    func wait(until moment: Timestamp) {
        guard moment > twin.time else { return }
        twin.hostTime = twin.hostTime?.advanced(by: moment.since(twin.time))
        twin.time = moment
    }

    func setClock(by step: Duration) { twin.setClock(by: step) }

    func plant(_ record: PresenceRecord) { twin.presences[record.user] = Expiring(value: record, expires: nil) }

    func flush() { twin.flush() }

    /// Sets the clock to the time at which a real Redis executed something.
    func set(time: Timestamp) { twin.time = time }

    /// The times at which keys expire.
    var expiries: [Timestamp] { keys().values.compactMap(\.expires) }

    /// The times at which leases end.
    var leaseEnds: [Timestamp] { Array(twin.leases.values) }
}
