// The contract of the store on a real Redis and of its twin in memory, which the simulation uses. It contains
// everything that workers request, and everything visible in the answers.

import RedisTwin
import RollcallCore
import RollcallModel

/// The operations that Rollcall needs of Redis.
protocol StoreContract: Sendable {
    func heartbeat(_ beat: LeaseKeeper.Beat, lease: Duration) async throws -> LeaseSnapshot
    func standing(of incarnation: Incarnation) async throws -> WorkerStanding
    func forget(_ incarnation: Incarnation) async throws -> Bool

    func record(_ names: [SessionName], of incarnation: Incarnation, until: Timestamp) async throws -> Bool
    func unrecord(_ names: [SessionName], of incarnation: Incarnation) async throws
    func claimSweep(of dead: Incarnation, by claimant: Incarnation, limit: Int) async throws -> [SessionName]?
    func sweep(
        _ name: SessionName, of dead: Incarnation, lastBeat: Timestamp?, until: Timestamp
    ) async throws -> SweepOutcome
    func sweep(_ names: [SessionName], of dead: Incarnation, until: Timestamp) async throws -> Bool

    func write(_ write: DeviceWrite) async throws -> DeviceWritten
    func announceReplaced(
        _ previous: DeviceWritten.PreviousSession, user: UserID, device: DeviceID
    ) async throws
    func revokeTokens(of user: UserID, issuedBefore moment: Timestamp?) async throws -> Timestamp
    func presence(of users: [UserID], known: KnownWorkers) async throws -> PresenceSnapshot
    func audit(_ names: [SessionName], of incarnation: Incarnation) async throws -> [DeviceStanding]

    func signalTyping(_ signal: TypingSignal) async throws -> TypingOutcome
    func stopTyping(_ stop: TypingSignal) async throws -> TypingStopOutcome
    func room(
        _ conversation: ConversationID, users: [UserID], withTyping: Bool, mostMembers: Int
    ) async throws -> RoomSnapshot

    func members(of conversation: ConversationID) async throws -> [UserID: String]?
    func setMembers(_ members: [UserID: String], of conversation: ConversationID) async throws
    func setMember(_ user: UserID, name: String, of conversation: ConversationID) async throws
    func removeMember(_ user: UserID, of conversation: ConversationID) async throws
    func deleteMembers(of conversation: ConversationID) async throws

    /// Returns what was published since the last call.
    func published() async throws -> [Published]
    /// Returns everything stored, by key.
    func keys() async throws -> [String: StoredKey]
    /// Redis `TIME`.
    func time() async throws -> Timestamp
    /// Waits, or advances the time.
    func wait(until moment: Timestamp) async throws
    /// Sets Redis's clock forward or back.
    func setClock(by step: Duration) async throws
    /// Stores a record as if it had been written earlier, without an expiry.
    func plant(_ record: PresenceRecord) async throws
    func flush() async throws
}

/// A key as `redis-cli` would show it.
struct StoredKey: Hashable {
    enum Kind: String, Hashable {
        case string, hash, set, zset
    }

    var kind: Kind
    /// The text of a string, the members of a set, or pairs such as `field=value`; in byte order.
    var content: [String]
    var expires: Timestamp?
}

/// The implementations of the contract.
enum Party: CaseIterable {
    case redis, twin

    func open(_ settings: TwinRedis.Settings = .patient) async throws -> any StoreContract {
        switch self {
        case .redis: try await RealRedis(settings: settings)
        case .twin: TwinUnderTest(settings: settings)
        }
    }
}

extension TwinRedis.Settings {
    /// Typing lasts longer than any test, even on a busy machine.
    static let patient = TwinRedis.Settings(typingExpiry: .seconds(60))
}

let kitchen = conversation("kitchen")
let w3 = Incarnation(name: "w3.cccc")
