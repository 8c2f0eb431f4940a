import NIOConcurrencyHelpers
import RedisTwin
import RollcallCore
import RollcallProtocol

@testable import RollcallServer

/// A node whose data the test sets.
final class DictionaryNode: OperatorAccess {
    struct State {
        var presence: [UserID: Presence] = [:]
        var typing: [ConversationID: [Typist]] = [:]
        var here: [ConversationID: ServerMessage.Here] = [:]
        var members: [ConversationID: [UserID: String]] = [:]
        var dropped: [String] = []
        var persons: [UserID: Person] = [:]
        /// The stream of events; `nil` if they are off.
        var events: [Event]?
        var records: [UserID: PresenceRecord] = [:]
        var workers: [WorkerReport] = []
        /// What everybody's devices have open.
        var open: [DeviceID: [ConversationID]] = [:]
        /// The operators' actions in words: disconnected, revoked, erased users.
        var done: [String] = []
        var isReady = true
        var reason: String?
        var isDraining = false
        /// The error that every call throws, if any.
        var failure: (any Error)?
    }

    private let state = NIOLockedValueBox(State())

    var isDraining: Bool { state.withLockedValue { $0.isDraining } }

    var isServing: Bool { !isDraining }
    var reason: String? { state.withLockedValue { $0.reason } }

    func change(_ body: (inout State) -> Void) {
        state.withLockedValue(body)
    }

    /// The members of all conversations.
    var members: [ConversationID: [UserID: String]] { state.withLockedValue { $0.members } }
    var dropped: [String] { state.withLockedValue { $0.dropped } }

    func person(of user: UserID) async throws -> Person? { try with { $0.persons[user] } }

    func change(
        _ user: UserID, _ kind: PersonWrite.Kind, _ patch: PersonPatch, blocks: [UserID: Bool]
    ) async throws -> Person {
        let settings = try patch.settings(at: Timestamp(milliseconds: 1_000_000))
        var redis = TwinRedis(time: Timestamp(milliseconds: 1_000_000))
        let known = try with { $0.persons[user] }
        let written = redis.write(PersonWrite(of: user, kind, settings: settings, blocks: blocks, known: known))
        guard !written.isTooMuch else { throw TooManyBlocked() }
        let person = written.person ?? Person()
        return try with {
            $0.persons[user] = person
            return person
        }
    }

    /// Accesses the state, unless calls are to fail.
    private func with<Result>(_ body: (inout State) -> Result) throws -> Result {
        try state.withLockedValue {
            if let failure = $0.failure { throw failure }
            return body(&$0)
        }
    }

    func sight(of user: UserID, as viewer: UserID, in conversation: ConversationID?) async throws -> Sight {
        try with { $0.persons[user]?.blocked[viewer] != nil ? .blocked : .allowed }
    }

    func presence(of users: [UserID], as viewer: UserID?, in conversation: ConversationID?) async throws -> [Presence] {
        try with { state in
            users.map {
                state.presence[$0]
                    ?? Presence(user: $0, status: .offline, lastSeen: nil, updatedAt: nil, version: 1)
            }
        }
    }

    func storedPresence(of users: [UserID]) async throws -> [Presence] {
        try await presence(of: users).map {
            var presence = $0
            presence.version += 1000
            return presence
        }
    }

    func eventsPage(after cursor: EventID, limit: Int) async throws -> EventsPage? {
        try with {
            guard let events = $0.events?.filter({ $0.id > cursor }) else { return nil }
            return EventsPage(events: Array(events.prefix(limit)), next: events.prefix(limit).last?.id ?? cursor)
        }
    }

    func latestEvent() async throws -> EventID? { try with { $0.events.map { $0.last?.id ?? .start } } }

    func rebalance() async throws -> Rebalance { Rebalance(mean: 7, moving: 3, workers: 2) }

    func reach(of users: [UserID]) async -> [Reach] {
        users.map { user in
            let record = state.withLockedValue { $0.records[user] }
            return record.map { Reach($0, past: [:], nil, at: Timestamp(milliseconds: 100_000)) }
                ?? Reach(unknown: user)
        }
    }

    func type(
        _ user: UserID, as profile: Profile, in conversation: ConversationID, kind: TypingKind, for duration: Duration
    ) async throws {
        try with { $0.done.append("\(user) \(kind) in \(conversation) for \(duration)") }
    }

    func stopTyping(_ user: UserID, in conversation: ConversationID) async throws {
        try with { $0.done.append("\(user) stops in \(conversation)") }
    }

    func typing(in conversation: ConversationID) async throws -> ServerMessage.Typing {
        let typists = try with { $0.typing[conversation] ?? [] }
        return ServerMessage.Typing(conversation: conversation, users: typists, count: typists.count)
    }

    func here(in conversation: ConversationID) async throws -> ServerMessage.Here {
        try with { $0.here[conversation] ?? .init(conversation: conversation, users: [], count: 0) }
    }

    var hereData: Int { 12 }

    func enter(
        _ user: UserID, as profile: Profile, in conversation: ConversationID, data: HereData?, for duration: Duration
    ) async throws {
        let says = [data?.text, profile.name].compactMap { $0.map { " \($0)" } }.joined()
        try with { $0.done.append("\(user)\(says) in \(conversation) for \(duration)") }
    }

    func exit(_ user: UserID, in conversation: ConversationID) async throws {
        try with { $0.done.append("\(user) leaves \(conversation)") }
    }

    func members(of conversation: ConversationID) async throws -> [UserID: String]? {
        try with { $0.members[conversation] }
    }

    /// Pages of the members in order; the cursor is the number of earlier members.
    func membersPage(of conversation: ConversationID, from cursor: UInt64, limit: Int) async throws -> MembersPage? {
        try with {
            guard let all = $0.members[conversation]?.sorted(by: { $0.key < $1.key }) else { return nil }
            let end = min(all.count, Int(cursor) + limit)
            let page = Dictionary(
                uniqueKeysWithValues: all[min(Int(cursor), end)..<end].map { ($0.key, ByteString($0.value)) })
            return MembersPage(members: page, next: end < all.count ? UInt64(end) : nil, count: all.count)
        }
    }

    func setMembers(_ members: [UserID: String], of conversation: ConversationID) async throws {
        try with { $0.members[conversation] = members }
    }

    func setMember(_ user: UserID, name: String, of conversation: ConversationID) async throws {
        try with { $0.members[conversation, default: [:]][user] = name }
    }

    func removeMember(_ user: UserID, of conversation: ConversationID) async throws {
        try with { $0.members[conversation]?[user] = nil }
    }

    var isOpenByDefault: Bool { false }

    func dropAccess(of user: UserID?, to conversation: ConversationID) async throws {
        try with { $0.dropped.append("\(user?.text ?? "all") of \(conversation)") }
    }

    func access(of user: UserID, to conversation: ConversationID) async throws -> RoomSnapshot {
        try with {
            let members = $0.members[conversation]
            return RoomSnapshot(
                time: Timestamp(milliseconds: 0), isManaged: members != nil,
                admitted: members?[user] == nil ? [] : [user], typists: [], members: nil)
        }
    }

    func endMembership(of conversation: ConversationID) async throws {
        try with { $0.members[conversation] = nil }
    }

    /// The actions on users.
    var done: [String] { state.withLockedValue { $0.done } }

    func explanation(of user: UserID) async throws -> Explanation {
        try with { state in
            let record = state.records[user]
            var report = UserReport(
                record: record
                    ?? PresenceRecord(user: user, devices: [:], lastSeen: nil, updatedAt: nil, version: 1),
                storedStatus: record.map { _ in "online" },
                workers: WorkersReport(time: Timestamp(milliseconds: 1000), workers: state.workers), revoked: nil)
            report.open = state.open
            let shard = Shard(
                settings: ShardSettings(), worker: "w", store: TwinStore(), random: SystemRandomNumberGenerator())
            return shard.explanation(of: report, at: Instant(nanoseconds: 0))
        }
    }

    func workers() async throws -> WorkersReport {
        try with { WorkersReport(time: Timestamp(milliseconds: 1000), workers: $0.workers) }
    }

    func live() async throws -> LiveReport {
        try with {
            LiveReport(
                own: $0.workers.first?.incarnation, isReady: $0.isReady,
                redis: LiveReport.Redis(isUp: true, medianMicroseconds: 80),
                workers: WorkersReport(time: Timestamp(milliseconds: 1000), workers: $0.workers),
                conversations: $0.typing.map {
                    BusyConversation(conversation: $0.key, typing: $0.value.count, joined: 3)
                })
        }
    }

    func sendAway(_ user: UserID, device: DeviceID?) async throws -> SentAway {
        try with {
            $0.done.append("\(user) \(device?.text ?? "*") away")
            return SentAway(sentAway: device.map { [$0] } ?? [])
        }
    }

    func revokeTokens(of user: UserID) async throws -> SentAway {
        try with {
            $0.done.append("\(user) revoked")
            return SentAway()
        }
    }

    func erase(_ user: UserID, conversations: [ConversationID]) async throws -> Bool {
        try with {
            $0.done.append("\(user) erased from \(conversations.map(\.text))")
            return $0.isReady
        }
    }

    var isReady: Bool { state.withLockedValue { $0.isReady } }
}
