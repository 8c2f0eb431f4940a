// The contract of the store on a real Redis and of its twin in memory, which the simulation uses. It contains
// everything that workers request, and everything visible in the answers.

import RedisTwin
import RollcallCore
import RollcallProtocol
import RollcallRedis

/// The store, the twin, or both side by side.
protocol Contract: Sendable {
    /// Makes one call. `Value` has everything that is visible in the answer.
    func call<Value: Hashable & Sendable>(
        _ text: String, _ store: @escaping @Sendable (Store, @escaping Store.Reply<Value>) -> Void,
        twin: @Sendable (inout TwinRedis) -> Value
    ) async throws -> Value

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
        case string, hash, set, zset, stream
    }

    var kind: Kind
    /// The text of a string, the members of a set, or pairs such as `field=value`; in byte order.
    var content: [String]
    var expires: Timestamp?
}

/// The implementations of the contract.
enum Party: CaseIterable {
    case redis, twin

    func open(_ settings: TwinRedis.Settings = .patient) async throws -> any Contract {
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

extension Contract {
    // MARK: Workers

    func heartbeat(_ beat: LeaseCoordinator.Beat, lease: Duration) async throws -> LeaseSnapshot {
        let (mode, incarnation): (Heartbeat.Mode, Incarnation) =
            switch beat {
            case .begin(let incarnation): (.begin, incarnation)
            case .renew(let incarnation): (.renew, incarnation)
            case .end(let incarnation, let after): (.end(after: after), incarnation)
            }
        return try await call("\(beat), lease \(lease)") {
            $0.heartbeat(.example(mode, incarnation, lease: lease), reply: $1)
        } twin: {
            $0.heartbeat(beat, lease: lease)
        }
    }

    func standing(of incarnation: Incarnation) async throws -> WorkerStanding {
        try await call("standing of \(incarnation)") {
            $0.standing(of: incarnation, reply: $1)
        } twin: {
            $0.standing(of: incarnation)
        }
    }

    func forget(_ incarnation: Incarnation) async throws -> Bool {
        try await call("forget \(incarnation)") {
            $0.forget(incarnation, reply: $1)
        } twin: {
            $0.forget(incarnation)
        }
    }

    func record(_ names: [SessionName], of incarnation: Incarnation, until: Timestamp) async throws -> Bool {
        try await call("record \(names) of \(incarnation) until \(until)") {
            $0.record(names, of: incarnation, until: until, reply: $1)
        } twin: {
            $0.record(names, of: incarnation, until: until)
        }
    }

    func record(_ entry: EntryName, of incarnation: Incarnation, until: Timestamp) async throws -> Bool {
        try await call("record \(entry) of \(incarnation) until \(until)") {
            $0.record(entry, of: incarnation, until: until, reply: $1)
        } twin: {
            $0.record(entry, of: incarnation, until: until)
        }
    }

    func unrecord(_ items: [ListItem], of incarnation: Incarnation) async throws {
        try await perform("unrecord \(items) of \(incarnation)") {
            $0.unrecord(items, of: incarnation, reply: $1)
        } twin: {
            $0.unrecord(items, of: incarnation)
        }
    }

    /// Redis picks at random; sorting makes the result comparable with the twin's.
    func claimSweep(of dead: Incarnation, by claimant: Incarnation, limit: Int) async throws -> [ListItem]? {
        try await call("claim \(dead) by \(claimant)") { store, reply in
            store.claimSweep(of: dead, by: claimant, limit: limit) {
                reply($0.map { $0?.sorted { $0.memberText < $1.memberText } })
            }
        } twin: {
            $0.claimSweep(of: dead, by: claimant, limit: limit)?.sorted { $0.memberText < $1.memberText }
        }
    }

    func sweep(
        _ name: SessionName, of dead: Incarnation, lastBeat: Timestamp?, until: Timestamp
    ) async throws -> SweepOutcome {
        try await call("sweep \(name) of \(dead), last beat \(lastBeat as Any), until \(until)") {
            $0.sweep(name, of: dead, lastBeat: lastBeat, until: until, reply: $1)
        } twin: {
            $0.sweep(name, of: dead, lastBeat: lastBeat, until: until)
        }
    }

    func sweep(_ items: [ListItem], of dead: Incarnation, until: Timestamp) async throws -> Bool {
        try await call("sweep \(items) of \(dead) until \(until)") { store, reply in
            store.sweep(items, of: dead, until: until) { reply($0.map { $0 != nil }) }
        } twin: {
            $0.sweep(items, of: dead, until: until)
        }
    }

    // MARK: Presence

    func write(_ write: DeviceWrite) async throws -> DeviceWritten {
        try await call("\(write)") {
            $0.write(write, reply: $1)
        } twin: {
            $0.write(write)
        }
    }

    func write(_ write: PersonWrite) async throws -> PersonWritten {
        try await call("\(write)") {
            $0.write(write, reply: $1)
        } twin: {
            $0.write(write)
        }
    }

    func person(of user: UserID) async throws -> Person? {
        try await call("person of \(user)") {
            $0.person(of: user, reply: $1)
        } twin: {
            $0.person(of: user)
        }
    }

    func announce(_ notice: WorkerNotice, to incarnation: Incarnation) async throws {
        try await perform("announce \(notice)") { store, reply in
            store.announce(notice, to: incarnation) { reply($0.map { _ in }) }
        } twin: {
            $0.announce(notice, to: incarnation)
        }
    }

    func revokeTokens(of user: UserID, issuedBefore moment: Timestamp?) async throws -> Timestamp {
        try await call("revoke \(user)") {
            $0.revokeTokens(of: user, issuedBefore: moment, reply: $1)
        } twin: {
            $0.revokeTokens(of: user, issuedBefore: moment)
        }
    }

    func presence(of users: [UserID], known: KnownWorkers) async throws -> PresenceSnapshot {
        try await call("presence, \(known)") {
            $0.presence(of: users, known: known, reply: $1)
        } twin: {
            $0.presence(of: users, known: known)
        }
    }

    func audit(_ names: [SessionName], of incarnation: Incarnation) async throws -> [DeviceStanding] {
        try await call("audit \(names)") {
            $0.audit(names, of: incarnation, reply: $1)
        } twin: {
            $0.audit(names, of: incarnation)
        }
    }

    // MARK: Conversations

    func signalTyping(_ signal: TypingSignal, isOpen: Bool = true) async throws -> TypingOutcome {
        try await call("typing \(signal)") {
            $0.signalTyping(signal, isOpen: isOpen, reply: $1)
        } twin: {
            $0.signalTyping(signal, isOpen: isOpen)
        }
    }

    func stopTyping(_ stop: TypingSignal) async throws -> TypingStopOutcome {
        try await call("stop \(stop)") {
            $0.stopTyping(stop, reply: $1)
        } twin: {
            $0.stopTyping(stop)
        }
    }

    func write(_ write: HereWrite) async throws -> HereWritten {
        try await call("\(write)") {
            $0.write(write, reply: $1)
        } twin: {
            $0.write(write)
        }
    }

    func lines(of entries: [EntryName]) async throws -> [HereLine?] {
        try await call("lines of \(entries)") {
            $0.lines(of: entries, reply: $1)
        } twin: {
            $0.lines(of: entries)
        }
    }

    func room(
        _ conversation: ConversationID, users: [UserID], withTyping: Bool, mostMembers: Int, mostHere: Int = 0
    ) async throws -> RoomSnapshot {
        try await call("room \(conversation)") {
            $0.room(
                conversation, users: users, withTyping: withTyping, mostMembers: mostMembers, mostHere: mostHere,
                reply: $1)
        } twin: {
            $0.room(
                conversation, users: users, withTyping: withTyping, mostMembers: mostMembers, mostHere: mostHere)
        }
    }

    func write(_ write: AccessWrite) async throws -> AccessWritten {
        try await call("access of \(write.question.user): \(write.answer)") {
            $0.write(write, reply: $1)
        } twin: {
            $0.write(write)
        }
    }

    func dropAccess(of user: UserID?, to conversation: ConversationID) async throws {
        _ = try await call("drop access of \(user?.text ?? "all")") {
            $0.dropAccess(of: user, to: conversation, reply: $1)
        } twin: {
            $0.dropAccess(of: user, to: conversation)
        }
    }

    func members(of conversation: ConversationID) async throws -> [UserID: ByteString]? {
        try await call("members of \(conversation)") {
            $0.members(of: conversation, reply: $1)
        } twin: {
            $0.members(of: conversation)?.mapValues(ByteString.init)
        }
    }

    func setMembers(_ members: [UserID: String], of conversation: ConversationID) async throws {
        try await perform("set \(members)") {
            $0.setMembers(members, of: conversation, reply: $1)
        } twin: {
            $0.setMembers(members, of: conversation)
        }
    }

    func setMember(_ user: UserID, name: String, of conversation: ConversationID) async throws {
        try await perform("set \(user)") {
            $0.setMember(user, name: name, of: conversation, reply: $1)
        } twin: {
            $0.setMember(user, name: name, of: conversation)
        }
    }

    func removeMember(_ user: UserID, of conversation: ConversationID) async throws {
        try await perform("remove \(user)") {
            $0.removeMember(user, of: conversation, reply: $1)
        } twin: {
            $0.removeMember(user, of: conversation)
        }
    }

    func deleteMembers(of conversation: ConversationID) async throws {
        try await perform("delete members") {
            $0.deleteMembers(of: conversation, reply: $1)
        } twin: {
            $0.deleteMembers(of: conversation)
        }
    }

    private func perform(
        _ text: String, _ store: @escaping @Sendable (Store, @escaping Store.Reply<Void>) -> Void,
        twin: @Sendable (inout TwinRedis) -> Void
    ) async throws {
        _ = try await call(text) { redis, reply in
            store(redis) { reply($0.map { true }) }
        } twin: {
            twin(&$0)
            return true
        }
    }
}
