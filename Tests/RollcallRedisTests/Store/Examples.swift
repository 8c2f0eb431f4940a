// The users of these tests, and short ways to write what their devices do.

import RollcallModel
import RollcallRedis

let alice = user("alice")
let bob = user("bob")
let phone = device("phone")
let tablet = device("tablet")
let lounge = conversation("lounge")
let w1 = Incarnation(name: "w1.aaaa")
let w2 = Incarnation(name: "w2.bbbb")

func user(_ text: String) -> UserID { name(text) }
func device(_ text: String) -> DeviceID { name(text) }
func conversation(_ text: String) -> ConversationID { name(text) }

private func name<Kind>(_ text: String) -> Identifier<Kind> {
    guard let name = try? Identifier<Kind>(text) else { preconditionFailure("\(text) is no name") }
    return name
}

/// A session of one of Alice's devices, whose decisions a test writes one after another.
struct Session: Sendable {
    var user = alice
    var device = phone
    var random: String
    var worker = w1
    /// `nil` until the first write was acknowledged.
    var began: Timestamp?
    var age = Duration.zero

    init(
        _ random: String, user: UserID = alice, device: DeviceID = phone, worker: Incarnation = w1,
        began: Timestamp? = nil, age: Duration = .zero
    ) {
        self.user = user
        self.device = device
        self.random = random
        self.worker = worker
        self.began = began
        self.age = age
    }

    var name: SessionName { SessionName(user: user, device: device, session: SessionID(random: random)) }

    func says(
        _ state: DeviceState?, _ sequence: Int64, lost: Timestamp? = nil, until: Timestamp = .never,
        opened: Timestamp = .never
    ) -> DeviceWrite {
        DeviceWrite(
            name: name, state: state, incarnation: worker, began: began, age: age, opened: opened, sequence: sequence,
            lost: lost, until: until)
    }
}

extension StoreUnderTest {
    @discardableResult
    func write(_ write: DeviceWrite) async throws -> DeviceWritten {
        try await call { $0.write(write, reply: $1) }
    }

    func record(of user: UserID) async throws -> PresenceRecord {
        let snapshot: PresenceSnapshot = try await call { $0.presence(of: [user], known: KnownWorkers(), reply: $1) }
        return snapshot.records[0]
    }

    /// Writes a device's record as if it had been written long ago, or by another version.
    func plant(_ record: String, user: UserID = alice, device: DeviceID = phone) async throws {
        try await command("HSET", "presence:{\(user)}", "device:\(device)", record)
    }

    @discardableResult
    func signal(
        _ user: UserID, _ device: DeviceID = phone, until expiry: Timestamp = .never, in room: ConversationID = lounge
    ) async throws -> TypingOutcome {
        let signal = TypingSignal(user: user, device: device, conversation: room, expiry: expiry)
        return try await call { $0.signalTyping(signal, reply: $1) }
    }

    @discardableResult
    func stop(
        _ user: UserID, _ device: DeviceID = phone, until expiry: Timestamp = .never, in room: ConversationID = lounge
    ) async throws -> TypingStopOutcome {
        let signal = TypingSignal(user: user, device: device, conversation: room, expiry: expiry)
        return try await call { $0.stopTyping(signal, reply: $1) }
    }

    func room(
        _ room: ConversationID = lounge, user: UserID? = alice, withTyping: Bool = true, mostMembers: Int = 0
    ) async throws -> RoomSnapshot {
        try await call {
            $0.room(room, user: user, withTyping: withTyping, mostMembers: mostMembers, reply: $1)
        }
    }

    func setMembers(_ members: [UserID: String], of room: ConversationID = lounge) async throws {
        try await call { $0.setMembers(members, of: room, reply: $1) }
    }

    /// Milliseconds until the key expires; -1 if it does not, -2 if it does not exist.
    func timeToLive(_ key: String) async throws -> Int64 {
        try await command("PTTL", key).integer ?? 0
    }
}
