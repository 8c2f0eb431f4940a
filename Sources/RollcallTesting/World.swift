// The state and the answers of a fake worker: the protocol, without anything that needs Redis or a second process.

internal import NIOCore
internal import RollcallClient

/// Presence, typing, members and sessions. Used on the fake worker's loop only.
final class World {
    static let expiry: Int64 = 3000
    /// How long a device whose connection was lost keeps its state.
    static let grace = Duration.seconds(5)

    let loop: any EventLoop
    private let clock: SteadyClock
    var isReachable = true
    private let start: Timestamp
    private(set) var heard: [ClientMessage] = []
    private(set) var typists: [ConversationID: [Typist]] = [:]
    /// The devices that type in a conversation. The device of a ``FakePerson`` is `nil`.
    private var typingDevices: [ConversationID: [UserID: Set<DeviceID?>]] = [:]
    private var states: [UserID: [DeviceID?: DeviceState]] = [:]
    private var presences: [UserID: Presence] = [:]
    private var members: [ConversationID: [UserID: String]] = [:]
    private var sessions: [FakeWire] = []
    /// The newest session of each device.
    private var lastSessions: [UserID: [DeviceID: FakeWire]] = [:]
    private var versions: Int64 = 0
    private var repeats: [ConversationID: Scheduled<Void>] = [:]

    init(on loop: any EventLoop, by clock: SteadyClock, at time: Timestamp) {
        self.loop = loop
        self.clock = clock
        start = time
    }

    var time: Timestamp { start.advanced(by: .nanoseconds(Int64(loop.now.uptimeNanoseconds))) }

    func presence(of user: UserID) -> Presence {
        presences[user] ?? Presence(user: user, status: .offline, lastSeen: nil, updatedAt: nil, version: 0)
    }

    // MARK: Events

    func opened(_ session: FakeWire) {
        sessions.append(session)
    }

    func drop() {
        for session in sessions { ended(session, .lost(nil)) }
    }

    func close(_ code: CloseCode) {
        for session in sessions { ended(session, .closed(code)) }
    }

    /// - Parameter ending: what the client is notified of; `nil` if it ended the connection itself.
    func ended(_ session: FakeWire, _ ending: Ending?) {
        sessions.removeAll { $0 === session }
        if let device = session.device {
            for conversation in session.joined.keys.sorted() {
                typed(by: session.user, on: device, false, in: conversation)
            }
            let lost = time
            _ = loop.schedule(at: clock.now + Self.grace, by: clock) { [weak self] in
                self?.graceEnded(for: session, lostAt: lost)
            }
        }
        if let ending { session.end(ending) }
    }

    /// Makes the device offline, unless it has connected again since.
    private func graceEnded(for session: FakeWire, lostAt time: Timestamp) {
        guard let device = session.device, lastSessions[session.user]?[device] === session else { return }
        changed(to: nil, session.user, on: device, lastSeen: time)
    }

    /// Sets the state of one of the user's devices; `nil` for a device that is gone.
    ///
    /// - Parameter isShown: whether the last seen time is shown even if the user was offline before.
    func changed(
        to state: DeviceState?, _ user: UserID, on device: DeviceID?, lastSeen: Timestamp, isShown: Bool = false
    ) {
        states[user, default: [:]][device] = state
        let status = PresenceStatus(of: states[user, default: [:]].values)
        if status != presence(of: user).status || isShown && status == .offline {
            became(status, user, lastSeen: lastSeen)
        }
    }

    private func became(_ status: PresenceStatus, _ user: UserID, lastSeen: Timestamp) {
        versions += 1
        let presence = Presence(user: user, status: status, lastSeen: lastSeen, updatedAt: time, version: versions)
        presences[user] = presence
        for session in sessions where sees(user, session) { session.tell(.presence([presence])) }
    }

    /// Sets whether a device types. Its user types while any of their devices does.
    func typed(
        by user: UserID, named name: String? = nil, on device: DeviceID?, _ isTyping: Bool,
        in conversation: ConversationID
    ) {
        if isTyping, let members = members[conversation], members[user] == nil { return }
        var devices = typingDevices[conversation]?[user] ?? []
        if isTyping { devices.insert(device) } else { devices.remove(device) }
        typingDevices[conversation, default: [:]][user] = devices.isEmpty ? nil : devices
        var typists = self.typists[conversation] ?? []
        let index = typists.firstIndex { $0.user == user }
        guard devices.isEmpty != (index == nil) else { return }
        if let index {
            typists.remove(at: index)
        } else {
            typists.append(named(Typist(user: user, name: name), in: conversation))
        }
        self.typists[conversation] = typists
        tellTyping(in: conversation)
    }

    func setMembers(_ members: [UserID: String], of conversation: ConversationID) {
        self.members[conversation] = members
        for session in sessions where session.joined[conversation] != nil {
            if members[session.user] == nil {
                session.joined[conversation] = nil
                session.tell(.removed(conversation))
            } else if session.joined[conversation] == true {
                tellMembers(of: conversation, to: session)
            }
        }
        let remaining = typists[conversation, default: []].filter { members[$0.user] != nil }
        guard remaining.count != typists[conversation, default: []].count else { return }
        typists[conversation] = remaining
        typingDevices[conversation] = typingDevices[conversation]?.filter { members[$0.key] != nil }
        tellTyping(in: conversation)
    }

    // MARK: Messages from clients

    func received(_ request: ClientRequest, from session: FakeWire) {
        heard.append(request.message)
        switch request.message {
        case .hello(let hello): welcome(session, hello)
        case .state(let state): changed(to: state, session.user, on: session.device, lastSeen: time)
        case .watch(let users):
            session.watched.formUnion(users)
            session.tell(.presence(users.map(presence)))
        case .unwatch(let users): session.watched.subtract(users)
        case .get(let users): return session.tell(.presence(users.map(presence), id: request.id))
        case .join(let conversation, let presence):
            guard join(conversation, presence, session, id: request.id) else { return }
        case .leave(let conversation):
            session.joined[conversation] = nil
            typed(by: session.user, on: session.device, false, in: conversation)
        case .typing(let conversation, let typing):
            typed(by: session.user, on: session.device, typing, in: conversation)
        case .ping: session.tell(.pong(time: time))
        case .token: break
        case .goodbye:
            ended(session, .closed(.normal))
            graceEnded(for: session, lostAt: time)
        }
        if let id = request.id { session.tell(.ack(id)) }
    }

    private func welcome(_ session: FakeWire, _ hello: ClientMessage.Hello) {
        let device = hello.device ?? "device"
        session.device = device
        let earlier = lastSessions[session.user]?[device]
        lastSessions[session.user, default: [:]][device] = session
        session.tell(
            .welcome(
                .init(
                    user: session.user, device: device, session: "fake", worker: "fake", time: time,
                    ping: 10_000, typing: .init(expiry: Self.expiry, throttle: 1000),
                    limits: .init(
                        watchedUsers: 2000, joinedConversations: 500, messageBytes: 65_536, messageRate: 50,
                        messageBurst: 200))))
        changed(to: hello.state, session.user, on: device, lastSeen: time)
        if let earlier, sessions.contains(where: { $0 === earlier }) { ended(earlier, .closed(.replaced)) }
    }

    private func join(
        _ conversation: ConversationID, _ presence: Bool, _ session: FakeWire, id: MessageID?
    ) -> Bool {
        if let members = members[conversation], members[session.user] == nil {
            session.tell(.error(MessageError(code: .notAMember, id: id, message: "you are not a member")))
            return false
        }
        session.joined[conversation] = presence
        session.tell(typing(in: conversation, for: session))
        if presence { tellMembers(of: conversation, to: session) }
        return true
    }

    // MARK: Messages to clients

    private func sees(_ user: UserID, _ session: FakeWire) -> Bool {
        session.watched.contains(user)
            || session.joined.contains { $0.value && members[$0.key]?[user] != nil }
    }

    private func tellMembers(of conversation: ConversationID, to session: FakeWire) {
        let names = members[conversation] ?? [:]
        let users = names.keys.sorted()
        session.tell(
            .members(
                .init(
                    conversation: conversation, users: users.map { .init(user: $0, name: names[$0]) },
                    count: users.count)))
        if !users.isEmpty { session.tell(.presence(users.map(presence))) }
    }

    /// Sends who is typing, and repeats it while it lasts, as a worker does for clients that drop what is not repeated.
    private func tellTyping(in conversation: ConversationID) {
        for session in sessions where session.joined[conversation] != nil {
            session.tell(typing(in: conversation, for: session))
        }
        repeats.removeValue(forKey: conversation)?.cancel()
        guard typists[conversation]?.isEmpty == false else { return }
        repeats[conversation] = loop.schedule(at: clock.now + .milliseconds(Self.expiry), by: clock) { [weak self] in
            self?.tellTyping(in: conversation)
        }
    }

    private func typing(in conversation: ConversationID, for session: FakeWire) -> ServerMessage {
        let others = typists[conversation, default: []].filter { $0.user != session.user }
        return .typing(
            .init(conversation: conversation, users: Array(others.prefix(10)), count: others.count))
    }

    private func named(_ typist: Typist, in conversation: ConversationID) -> Typist {
        Typist(user: typist.user, name: typist.name ?? members[conversation]?[typist.user])
    }
}
