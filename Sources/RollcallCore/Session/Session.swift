// One connection and, after its hello, the device behind it.

package import RollcallProtocol

/// A session of a shard, from its connection to the last write for its device.
public final class Session: Numbered {
    enum Phase: Hashable, Sendable {
        /// Connected; no hello yet.
        case greeting
        /// Welcomed.
        case open
        /// The connection was lost; the device keeps its presence until this moment.
        case inGrace(until: Instant)
        /// Only its record still has to be written.
        case ending
    }

    /// What a client sent: a valid message, an invalid one, or no JSON object.
    enum Said: Hashable, Sendable {
        case request(ClientRequest)
        case error(MessageError)
        case garbage

        func cost(_ limits: ServerMessage.Limits) -> Int {
            if case .request(let request) = self { request.message.cost(limits) } else { 1 }
        }

        var isGoodbye: Bool {
            if case .request(let request) = self, case .goodbye = request.message { return true }
            return false
        }
    }

    /// Messages that wait to be processed, in order.
    struct Held: Sendable {
        private var said: [(said: Said, came: Instant)] = []
        private var taken = 0

        var count: Int { said.count - taken }
        var next: (said: Said, came: Instant)? { taken < said.count ? said[taken] : nil }
        var hasGoodbye: Bool { said[taken...].contains { $0.said.isGoodbye } }

        mutating func append(_ new: Said, came: Instant) { said.append((new, came)) }
        mutating func removeNext() { taken += 1 }
    }

    /// Orders sessions among those of the shard.
    public let number: Int32
    private(set) var isOver = false
    var phase = Phase.greeting
    let connected: Instant
    /// Its connection, while it has one.
    var peer: (any Peer)?
    /// Received messages that wait; `nil` while each message is processed on arrival.
    var held: Held?
    /// Whether the token may still be rejected, so that no message is processed.
    var isUnproven = false
    /// The user, the device and the state of its record; set by the hello.
    var recorder: DeviceRecorder?
    /// Which conversations without members it may join; set by the hello.
    var right = JoinRight.none
    var joined: [Room] = []
    /// Typing state, for conversations in which the session has typed.
    var senders: [Sender] = []
    /// Rooms whose read a join of this session waits for.
    var joining: [Room] = []
    /// Users that the client asked to watch. Members of joined conversations are watched separately.
    var watched = IndexedSet<Watch>()
    /// What waits to be sent to it; `nil` for most sessions.
    var pending: PendingUpdates?
    /// The total weight of its unanswered `get`s.
    var getting = 0
    /// When the token expires. The session ends then, unless a fresh token arrives.
    var tokenExpires: Instant?
    /// When the draining worker sends the client to another worker.
    var leaves: Instant?
    /// Messages to acknowledge once a decision is in Redis.
    var acks: [(sequence: Int64, id: MessageID)] = []
    /// When changes of the device's state are written.
    var statePace = ChangePace()
    /// Whether a change of the device's state waits to be written.
    var isStateDeferred = false

    /// What a `get` counts against the limit: at least 1, since an empty one also needs a reply.
    static func weight(ofGetting users: [UserID]) -> Int { max(1, users.count) }

    init(number: Int32, peer: any Peer, now: Instant) {
        self.number = number
        self.peer = peer
        connected = now
    }

    public static func == (left: Session, right: Session) -> Bool { left === right }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// Nothing is left to do: replies and reminders that still come change nothing.
    func ended() {
        assert(!isOver && phase != .open && pending == nil, "a session ends once, without a connection")
        (isOver, phase, peer) = (true, .ending, nil)
    }

    /// Whether there is a connection to send to.
    var isConnected: Bool {
        switch phase {
        case .greeting, .open: true
        case .inGrace, .ending: false
        }
    }

    /// Whether the device is active and connected. Such sessions are written first, so that no user appears less
    /// present than they are.
    var isActiveAndConnected: Bool { recorder?.state == .active && recorder?.lost == nil }

    /// The device, and this session of it; set by the hello.
    package var name: SessionName? { recorder?.name }

    var user: UserID? { recorder?.name.user }

    /// Ends everything that needs a connection.
    func leftEverything() {
        (joined, joining, senders, watched) = ([], [], [], IndexedSet())
        (held, acks) = (nil, [])
    }

    /// Ends a pending join. Assigns a filtered copy, here and below, because an empty array then holds no memory:
    /// nearly all sessions wait for nothing.
    func joinEnded(in room: Room) {
        joining = joining.filter { $0 != room }
    }

    /// Removes and returns the acknowledgements of decisions that are in Redis by now.
    func takeWritten() -> [MessageID] {
        guard let recorder, !acks.isEmpty else { return [] }
        let written = acks.prefix { recorder.isWritten($0.sequence) }
        guard !written.isEmpty else { return [] }
        acks = Array(acks.dropFirst(written.count))
        return written.map(\.id)
    }

    // MARK: Typing

    // Most devices only read, so state is kept only for conversations in which the device has typed. It is kept for a
    // moment after the device leaves, so that leaving and joining again does not bypass the throttle.

    /// The session's typing in one conversation.
    struct Sender: Hashable {
        /// `nil` once the session has left the conversation.
        var room: Room?
        let conversation: ConversationID
        var typing: TypingSender
    }

    func hasJoined(_ room: Room) -> Bool { joined.contains(room) }

    /// When typing next expires or continues, over all conversations.
    var nextTypingDue: Instant? { senders.lazy.compactMap(\.typing.nextDue).min() }

    /// Handles a typing signal from the client in a joined conversation; see ``TypingSender``.
    func signalled(
        _ kind: TypingKind, in room: Room, of conversation: ConversationID, _ settings: ShardSettings.Typing,
        at now: Instant, time: Timestamp
    ) -> TypingSender.Decision? {
        if let index = sender(in: room) { return senders[index].typing.signalled(kind, at: now, time: time) }
        senders.removeAll { $0.room == nil && $0.typing.isRested(at: now) }
        if let index = senders.firstIndex(where: { $0.room == nil && $0.conversation == conversation }) {
            senders[index].room = room
            return senders[index].typing.signalled(kind, at: now, time: time)
        }
        var typing = TypingSender(expiry: settings.expiry, throttle: settings.throttle)
        defer { senders.append(Sender(room: room, conversation: conversation, typing: typing)) }
        return typing.signalled(kind, at: now, time: time)
    }

    /// Handles that the user stopped typing there.
    func stopped(in room: Room) -> TypingSender.Decision? {
        sender(in: room).flatMap { senders[$0].typing.stopped() }
    }

    /// Handles that Redis refused the typing signal.
    func refused(in room: Room) {
        if let index = sender(in: room) { senders[index].typing.ended() }
    }

    /// Removes the session from the conversation.
    func left(_ room: Room) {
        joined.removeAll { $0 == room }
        guard let index = sender(in: room) else { return }
        senders[index].typing.ended()
        senders[index].room = nil
    }

    private func sender(in room: Room) -> Int? { senders.firstIndex { $0.room == room } }
}
