// The state and the answers of a fake worker: the protocol, without anything that needs Redis or a second process.

internal import RollcallClient

/// Presence, typing, members and sessions. Used on the fake worker's queue only.
final class World: @unchecked Sendable {
    /// How it answers attempts to connect.
    enum Listening {
        case accepts
        case refuses
        case isSilent
        case answers(UpgradeRefused)
    }

    private static let expiry = Duration.seconds(3)
    /// How long a device whose connection was lost keeps its state.
    private static let grace = Duration.seconds(5)

    let time: VirtualTime
    var listening = Listening.accepts
    /// Whether it has lost its Redis.
    var isUnavailable = false
    /// Whether connections may die silently, so that clients expect pings.
    var isNetwork = false
    var limits = ServerMessage.Limits(
        watchedUsers: 2000, joinedConversations: 500, messageBytes: 65_536, messageRate: 50, messageBurst: 200)
    /// What is done with each request instead of ``answer(_:from:)``.
    var script: ((ClientRequest, FakeWire) -> Void)?
    var sessions: [FakeWire] = []
    var attempts = 0
    /// The worker's clock at the start.
    var epoch: Timestamp
    private(set) var heard: [ClientMessage] = []
    /// Who types in a conversation, and on which devices. The device of a ``FakePerson`` is `nil`.
    private var typing: [ConversationID: [(typist: Typist, devices: Set<DeviceID?>)]] = [:]
    /// Who has a conversation open: each user's devices, the one that sent data last at the end.
    private var here: [ConversationID: [(user: HereUser, devices: [(id: DeviceID?, data: HereData?)])]] = [:]
    private var states: [UserID: [DeviceID?: DeviceState]] = [:]
    private var presences: [UserID: Presence] = [:]
    private var persons: [UserID: Person] = [:]
    private var members: [ConversationID: [UserID: String]] = [:]
    /// The newest session of each device.
    private var lastSessions: [UserID: [DeviceID: FakeWire]] = [:]
    private var versions: Int64 = 0
    private var repeats: [ConversationID: () -> Void] = [:]

    init(_ time: VirtualTime, at epoch: Timestamp) {
        (self.time, self.epoch) = (time, epoch)
    }

    var now: Timestamp { epoch.advanced(by: time.sinceStart) }

    /// As others see it, who have all blocked nobody.
    func presence(of user: UserID) -> Presence {
        let person = persons[user]?.current(at: now) ?? Person()
        guard var presence = presences[user], !person.hidesAll else {
            return Presence(user: user, status: .offline, lastSeen: nil, updatedAt: nil, version: 0)
        }
        presence.words = PersonWords(of: person, at: now)
        guard person.lastSeen == .nobody else { return presence }
        (presence.lastSeen, presence.updatedAt, presence.version) = (nil, nil, 1)
        return presence
    }

    // MARK: Events

    func endAll(_ ending: Ending) {
        for session in sessions { ended(session, ending) }
    }

    /// - Parameter ending: what the client is notified of; `nil` if it ended the connection itself.
    func ended(_ session: FakeWire, _ ending: Ending?) {
        sessions.removeAll { $0 === session }
        if let device = session.device {
            for conversation in session.joined.keys.sorted() {
                typed(by: session.user, on: device, false, in: conversation)
            }
            let lost = now
            _ = time.at(time.now + Self.grace) { [weak self] in self?.graceEnded(for: session, lostAt: lost) }
        }
        if let ending { session.end(ending) }
    }

    /// Makes the device offline, unless it has connected again since.
    private func graceEnded(for session: FakeWire, lostAt time: Timestamp) {
        guard let device = session.device, lastSessions[session.user]?[device] === session else { return }
        changed(to: nil, session.user, on: device, lastSeen: time)
        for conversation in here.keys { exits(session.user, on: device, conversation) }
    }

    /// Sets the state of one of the user's devices; `nil` for a device that is gone.
    ///
    /// - Parameter isShown: whether the last seen time is shown even if the user was offline before.
    func changed(
        to state: DeviceState?, _ user: UserID, on device: DeviceID?, lastSeen: Timestamp, isShown: Bool = false
    ) {
        states[user, default: [:]][device] = state
        let status = PresenceStatus(of: states[user, default: [:]].values)
        if status != presences[user]?.status ?? .offline || isShown && status == .offline {
            became(status, user, lastSeen: lastSeen)
        }
    }

    private func became(_ status: PresenceStatus, _ user: UserID, lastSeen: Timestamp) {
        versions += 1
        let presence = Presence(user: user, status: status, lastSeen: lastSeen, updatedAt: now, version: versions)
        presences[user] = presence
        tellPresence(of: user)
    }

    private func tellPresence(of user: UserID) {
        for session in sessions where sees(user, session) { session.tell(.presence([presence(of: user)])) }
    }

    /// A device sets what others see of its user.
    private func set(_ patch: PersonPatch, of user: UserID) {
        var patch = patch
        if let end = try? patch.settings(at: now) { patch.settings = end }
        var person = (persons[user] ?? Person()).changed(by: patch)
        person.revision += 1
        persons[user] = person
        for session in sessions where session.user == user { session.tell(.person(person)) }
        tellPresence(of: user)
    }

    /// Sets whether a device types. Its user types while any of their devices does.
    func typed(
        by user: UserID, named name: String? = nil, on device: DeviceID?, _ isTyping: Bool,
        _ kind: TypingKind = .typing, in conversation: ConversationID
    ) {
        if isTyping, let members = members[conversation], members[user] == nil { return }
        var rows = typing[conversation] ?? []
        let before = rows.map(\.typist)
        if let index = rows.firstIndex(where: { $0.typist.user == user }) {
            if isTyping {
                rows[index].devices.insert(device)
                rows[index].typist.kind = kind
            } else {
                rows[index].devices.remove(device)
            }
            if rows[index].devices.isEmpty { rows.remove(at: index) }
        } else if isTyping {
            rows.append((Typist(user: user, name: name ?? members[conversation]?[user], kind: kind), [device]))
        }
        typing[conversation] = rows
        if rows.map(\.typist) != before { tellTyping(in: conversation) }
    }

    /// One of the user's devices has a conversation open.
    func enters(
        _ user: UserID, named name: String? = nil, on device: DeviceID?, _ conversation: ConversationID,
        _ data: HereData?
    ) {
        if let members = members[conversation], members[user] == nil { return }
        var rows = here[conversation] ?? []
        let index = rows.firstIndex { $0.user.user == user } ?? rows.count
        if index == rows.count { rows.append((HereUser(user: user, name: name.map(ByteString.init), since: now), [])) }
        rows[index].devices.removeAll { $0.id == device }
        rows[index].devices.append((device, data))
        changed(rows, at: index, in: conversation)
    }

    /// It no longer has.
    func exits(_ user: UserID, on device: DeviceID?, _ conversation: ConversationID) {
        guard var rows = here[conversation], let index = rows.firstIndex(where: { $0.user.user == user }),
            rows[index].devices.contains(where: { $0.id == device })
        else { return }
        rows[index].devices.removeAll { $0.id == device }
        changed(rows, at: index, in: conversation)
    }

    private func changed(
        _ rows: [(user: HereUser, devices: [(id: DeviceID?, data: HereData?)])], at index: Int,
        in conversation: ConversationID
    ) {
        var rows = rows
        rows[index].user.data = rows[index].devices.last { $0.data != nil }?.data
        if rows[index].devices.isEmpty { rows.remove(at: index) }
        let before = whoIsHere(in: conversation)
        here[conversation] = rows
        let message = whoIsHere(in: conversation)
        guard message != before else { return }
        for session in sessions where session.follows.contains(conversation) { session.tell(message) }
    }

    private func whoIsHere(in conversation: ConversationID) -> ServerMessage {
        let rows = here[conversation] ?? []
        return .here(.init(conversation: conversation, users: rows.map(\.user), count: rows.count))
    }

    func typists(in conversation: ConversationID) -> [Typist] { typing[conversation]?.map(\.typist) ?? [] }

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
        for row in here[conversation] ?? [] where members[row.user.user] == nil {
            for device in row.devices { exits(row.user.user, on: device.id, conversation) }
        }
        let before = typists(in: conversation).count
        typing[conversation]?.removeAll { members[$0.typist.user] == nil }
        if typists(in: conversation).count != before { tellTyping(in: conversation) }
    }

    // MARK: Messages from clients

    func received(_ request: ClientRequest, from session: FakeWire) {
        heard.append(request.message)
        script.map { $0(request, session) } ?? answer(request, from: session)
    }

    func answer(_ request: ClientRequest, from session: FakeWire) {
        if isUnavailable, request.message.needsRedis {
            let error = MessageError(code: .unavailable, id: request.id, message: "Redis is away")
            return session.tell(.error(error))
        }
        switch request.message {
        case .hello(let hello): welcome(session, hello)
        case .state(let state): changed(to: state, session.user, on: session.device, lastSeen: now)
        case .watch(let users):
            session.watched.formUnion(users)
            session.tell(.presence(users.map(presence)))
        case .unwatch(let users): session.watched.subtract(users)
        case .get(let users): return session.tell(.presence(users.map(presence), id: request.id))
        case .join(let conversation, let presence, let here):
            guard join(conversation, presence, here: here, session, id: request.id) else { return }
        case .leave(let conversation):
            session.joined[conversation] = nil
            session.follows.remove(conversation)
            typed(by: session.user, on: session.device, false, in: conversation)
            exits(session.user, on: session.device, conversation)
        case .enter(let conversation, let data):
            guard session.joined[conversation] != nil else {
                return session.tell(
                    .error(MessageError(code: .notJoined, id: request.id, message: "join the conversation first")))
            }
            enters(session.user, on: session.device, conversation, data)
        case .exit(let conversation): exits(session.user, on: session.device, conversation)
        case .typing(let conversation, let typing, let kind):
            typed(by: session.user, on: session.device, typing, kind, in: conversation)
        case .ping: session.tell(.pong(time: now))
        case .person(let patch): set(patch, of: session.user)
        case .token: break
        case .goodbye:
            ended(session, .closed(.normal))
            graceEnded(for: session, lostAt: now)
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
                    user: session.user, device: device, session: "fake", worker: "fake", time: now, ping: 10_000,
                    typing: .init(expiry: Self.expiry.milliseconds, throttle: 1000), limits: limits)))
        if let person = persons[session.user] { session.tell(.person(person)) }
        changed(to: hello.state, session.user, on: device, lastSeen: now)
        if let earlier, sessions.contains(where: { $0 === earlier }) { ended(earlier, .closed(.replaced)) }
    }

    private func join(
        _ conversation: ConversationID, _ presence: Bool, here: Bool, _ session: FakeWire, id: MessageID?
    ) -> Bool {
        if let members = members[conversation], members[session.user] == nil {
            session.tell(.error(MessageError(code: .notAMember, id: id, message: "you are not a member")))
            return false
        }
        session.joined[conversation] = presence
        session.tell(message(about: conversation, for: session))
        if presence { tellMembers(of: conversation, to: session) }
        if here { session.follows.insert(conversation) } else { session.follows.remove(conversation) }
        if here { session.tell(whoIsHere(in: conversation)) }
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
                    conversation: conversation,
                    users: users.map { .init(user: $0, name: names[$0].map(ByteString.init)) },
                    count: users.count)))
        if !users.isEmpty { session.tell(.presence(users.map(presence))) }
    }

    /// Sends who is typing, and repeats it while it lasts, as a worker does for clients that drop what is not repeated.
    private func tellTyping(in conversation: ConversationID) {
        for session in sessions where session.joined[conversation] != nil {
            session.tell(message(about: conversation, for: session))
        }
        repeats.removeValue(forKey: conversation)?()
        if typists(in: conversation).isEmpty { return }
        repeats[conversation] = time.at(time.now + Self.expiry) { [weak self] in self?.tellTyping(in: conversation) }
    }

    private func message(about conversation: ConversationID, for session: FakeWire) -> ServerMessage {
        let others = typists(in: conversation).filter { $0.user != session.user }
        return .typing(.init(conversation: conversation, users: Array(others.prefix(10)), count: others.count))
    }
}

extension ClientMessage {
    fileprivate var needsRedis: Bool {
        switch self {
        case .state, .watch, .get, .join, .enter, .typing, .person: true
        case .hello, .token, .unwatch, .leave, .exit, .ping, .goodbye: false
        }
    }
}
