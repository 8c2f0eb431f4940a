// The users of these tests, and short ways to write what their devices do.

import RollcallProtocol
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

    var name: SessionName { SessionName(user: user, device: device, session: SessionID(random: ByteString(random))) }

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
        try await snapshot(of: [user]).records[0]
    }

    @discardableResult
    func snapshot(of users: [UserID], known: KnownWorkers = KnownWorkers()) async throws -> PresenceSnapshot {
        try await call { $0.presence(of: users, known: known, reply: $1) }
    }

    /// Writes a device's record as if it had been written long ago, or by another version.
    func plant(_ record: String, user: UserID = alice, device: DeviceID = phone) async throws {
        try await command("HSET", "presence:{\(user)}", "device:\(device)", record)
    }

    /// Writes that a session is here, or is not; without a name, what an app's server says of alice.
    func here(
        _ session: SessionName?, _ sequence: Int64, isHere: Bool = true, lasts: Duration? = nil
    ) async throws -> HereWritten.Outcome {
        let entry =
            session.map { EntryName(session: $0, conversation: lounge) } ?? EntryName(ofServersFor: alice, in: lounge)
        let write = HereWrite(
            entry: entry, content: isHere ? .init() : nil, incarnation: w1, sequence: sequence, until: .never,
            lasts: lasts)
        return try await call { $0.write(write, reply: $1) }.outcome
    }

    /// Says as an app's server that alice types, or no longer.
    func types(_ mark: UInt64, _ step: ServerTypingStep) async throws -> TypingOutcome {
        let signal = TypingSignal(user: alice, device: .ofServer(mark: mark), conversation: lounge, expiry: .never)
        return try await call { $0.serverTypes(signal, step, reply: $1) }
    }

    @discardableResult
    func signal(
        _ user: UserID, _ device: DeviceID = phone, until expiry: Timestamp = .never, in room: ConversationID = lounge
    ) async throws -> TypingOutcome {
        let signal = TypingSignal(user: user, device: device, conversation: room, expiry: expiry)
        return try await call { $0.signalTyping(signal, isOpen: true, reply: $1) }
    }

    @discardableResult
    func stop(
        _ user: UserID, _ device: DeviceID = phone, until expiry: Timestamp = .never, in room: ConversationID = lounge
    ) async throws -> TypingStopOutcome {
        let signal = TypingSignal(user: user, device: device, conversation: room, expiry: expiry)
        return try await call { $0.stopTyping(signal, reply: $1) }
    }

    @discardableResult
    func beat(
        _ mode: Heartbeat.Mode, _ incarnation: Incarnation, lease: Duration = .seconds(5), isDraining: Bool = false,
        figures: WorkerFigures = WorkerFigures()
    ) async throws -> LeaseSnapshot {
        var beat = Heartbeat.example(mode, incarnation, lease: lease)
        (beat.isDraining, beat.figures) = (isDraining, figures)
        return try await call { [beat] in $0.heartbeat(beat, reply: $1) }
    }

    func standing(of incarnation: Incarnation) async throws -> WorkerStanding {
        try await call { $0.standing(of: incarnation, reply: $1) }
    }

    func forget(_ incarnation: Incarnation) async throws -> Bool {
        try await call { $0.forget(incarnation, reply: $1) }
    }

    @discardableResult
    func record(
        _ sessions: [SessionName], of incarnation: Incarnation = w1, until: Timestamp = .never
    ) async throws -> Bool {
        try await call { $0.record(sessions, of: incarnation, until: until, reply: $1) }
    }

    func claim(of dead: Incarnation = w1, by claimant: Incarnation = w2, limit: Int) async throws -> [ListItem]? {
        try await call { $0.claimSweep(of: dead, by: claimant, limit: limit, reply: $1) }
    }

    func sweep(
        _ session: SessionName, of dead: Incarnation = w1, lastBeat: Timestamp?, until: Timestamp = .never
    ) async throws -> SweepOutcome {
        try await call { $0.sweep(session, of: dead, lastBeat: lastBeat, until: until, reply: $1) }
    }

    func room(
        _ room: ConversationID = lounge, users: [UserID] = [alice], withTyping: Bool = true, mostMembers: Int = 0,
        mostHere: Int = 0
    ) async throws -> RoomSnapshot {
        try await call {
            $0.room(
                room, users: users, withTyping: withTyping, mostMembers: mostMembers, mostHere: mostHere, reply: $1)
        }
    }

    func setMembers(_ members: [UserID: String], of room: ConversationID = lounge) async throws {
        try await call { $0.setMembers(members, of: room, reply: $1) }
    }
}

extension Heartbeat {
    static func example(_ mode: Mode, _ incarnation: Incarnation, lease: Duration) -> Self {
        Heartbeat(
            mode: mode, incarnation: incarnation, lease: lease, host: "box", pid: 77, edge: "ws://box/v1/connect",
            startedAt: Timestamp(milliseconds: 123), sessions: 9, version: "0.1.0")
    }
}
