// One connection and, after its hello, the device behind it.

internal import DequeModule
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

    /// Orders sessions among those of the shard.
    public let number: Int32
    package private(set) var isOver = false
    private(set) var phase = Phase.greeting
    let connected: Instant
    /// Its connection, while it has one.
    private(set) var peer: (any Peer)?
    /// Received messages that wait; `nil` while each message is processed on arrival.
    private(set) var held: MessageQueue?
    /// Whether the token may still be rejected, so that no message is processed.
    private(set) var isUnproven = false
    /// What Redis has and will have of the device; set by the hello.
    var recorder: DeviceRecorder?
    /// Which conversations without members it may join; set by the hello.
    private(set) var right = JoinRight.none
    /// Which users it may ask about by name; set by the hello.
    private(set) var watchRight = WatchRight.none
    private(set) var joined: [Room] = []
    /// Rooms whose read a join of this session waits for.
    private(set) var joining: [Room] = []
    /// Typing state, for conversations in which the session has typed.
    private var senders: [Sender] = []
    /// Users that the client asked to watch. Members of joined conversations are watched separately.
    private(set) var watched = IndexedSet<Watch>()
    /// What waits to be sent to it; `nil` for most sessions. ``Outbound`` keeps it.
    var pending: PendingUpdates?
    /// The total weight of its unanswered `get`s.
    private var getting = 0
    /// Whether Redis has told whether its user has decided something.
    var knowsPerson = false
    /// The revision of its own user's settings that it was told last.
    var personTold: Int64 = 0
    /// When the token expires. The session ends then, unless a fresh token arrives.
    private(set) var tokenExpires: Instant?
    /// When the draining worker sends the client to another worker.
    private(set) var leaves: Instant?
    /// Messages to acknowledge once a decision is in Redis.
    private var acks: [(sequence: Int64, id: MessageID)] = []
    /// When changes of the device's state are written.
    private var statePace = ChangePace()
    /// Whether a change of the device's state waits to be written.
    private(set) var isStateDeferred = false

    init(number: Int32, peer: any Peer, leaves: Instant? = nil, now: Instant) {
        self.number = number
        self.peer = peer
        self.leaves = leaves
        connected = now
    }

    public static func == (left: Session, right: Session) -> Bool { left === right }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

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

    // MARK: From the welcome to the end

    /// Handles a token that is accepted.
    func accepted(_ right: JoinRight, _ watchRight: WatchRight, until expires: Instant?) {
        (self.right, self.watchRight, tokenExpires) = (right, watchRight, expires)
    }

    /// Handles the welcome. No message is processed until Redis has told that the token was not revoked.
    ///
    /// - Parameter other: an earlier session of the same device, which has no fresh burst of changes.
    func welcomed(as recorder: DeviceRecorder, after other: Session?) {
        assert(phase == .greeting && self.recorder == nil, "a session is welcomed once")
        (self.recorder, phase, isUnproven) = (recorder, .open, true)
        if let other { statePace = other.statePace }
    }

    /// Handles that the worker drains: the session leaves at this moment.
    func leaves(at moment: Instant) { leaves = moment }

    /// The connection is lost or closed.
    func disconnected() { peer = nil }

    /// The device keeps its presence until this moment.
    func keepsPresence(until moment: Instant) {
        assert(phase == .open && !isOver, "only an open session loses its connection")
        phase = .inGrace(until: moment)
    }

    /// Only its record still has to be written.
    func isEnding() {
        assert(!isOver, "a session ends once")
        phase = .ending
    }

    /// Ends everything that needs a connection.
    func leftEverything() {
        (joined, joining, senders, watched) = ([], [], [], IndexedSet())
        (held, acks) = (nil, [])
    }

    /// Nothing is left to do: replies and reminders that still come change nothing.
    func ended() {
        assert(!isOver && phase != .open && pending == nil, "a session ends once, without a connection")
        (isOver, phase, peer) = (true, .ending, nil)
    }

    // MARK: Messages that wait

    /// Has the messages that come from now on wait.
    func hold() {
        held = MessageQueue()
        peer?.hold()
    }

    func keep(_ said: ReceivedMessage, came: Instant) { held?.append(said, came: came) }

    /// Redis has told that the token was not revoked.
    func proven() { isUnproven = false }

    /// Takes the first message that waited.
    func takeHeld() -> (said: ReceivedMessage, came: Instant)? { held?.takeNext() }

    /// Nothing waits any more.
    func listen() {
        held = nil
        peer?.listen()
    }

    // MARK: The state of its device

    /// Handles a change of the device's state: the first four changes after a quiet time are written at once, later ones at
    /// most once per interval, with the newest state. The device's end is never delayed.
    ///
    /// - Returns: when to write it; `nil` for now.
    func stateChanged(every interval: Duration, at now: Instant) -> Instant? {
        let next = statePace.next(every: interval)
        guard now < next else {
            stateWritten(every: interval, at: now)
            return nil
        }
        isStateDeferred = true
        return next
    }

    /// Handles that the newest state is written now.
    func stateWritten(every interval: Duration, at now: Instant) {
        isStateDeferred = false
        statePace.passed(at: now, every: interval)
    }

    /// Under a new incarnation, the newest state is written whatever the pace.
    func stateWaitsNoLonger() { isStateDeferred = false }

    /// Has a message acknowledged once a decision is in Redis. If many wait, those of superseded decisions need not wait any
    /// longer, because these decisions can no longer have an effect.
    ///
    /// - Parameters:
    ///   - most: how many may wait before that.
    ///   - mostAtAll: how many may wait if none is superseded.
    /// - Returns: what to acknowledge now, and whether the message is refused instead.
    func acknowledges(
        _ id: MessageID, onceWritten sequence: Int64, most: Int, atAll mostAtAll: Int
    ) -> (now: MessageID?, isRefused: Bool) {
        acks.append((sequence, id))
        guard acks.count > most else { return (nil, false) }
        if acks[0].sequence < sequence { return (acks.removeFirst().id, false) }
        guard acks.count > mostAtAll else { return (nil, false) }
        acks.removeLast()
        return (nil, true)
    }

    /// Removes and returns the acknowledgements of decisions that are in Redis by now.
    func takeWritten() -> [MessageID] {
        guard let recorder, !acks.isEmpty else { return [] }
        let written = acks.prefix { recorder.isWritten($0.sequence) }
        guard !written.isEmpty else { return [] }
        acks = Array(acks.dropFirst(written.count))
        return written.map(\.id)
    }

    // MARK: What it follows

    func watches(_ new: [Watch]) {
        assert(phase == .open, "only an open session watches")
        watched.insert(new)
    }

    /// - Returns: whether the client had asked to watch that user.
    func unwatched(_ watch: Watch) -> Bool { watched.remove(watch) }

    /// Begins a `get`, unless too many users are asked for at once. An empty one counts as well, since it needs a reply.
    func gets(_ users: [UserID], most: Int) -> Bool {
        guard getting + max(1, users.count) <= most else { return false }
        getting += max(1, users.count)
        return true
    }

    /// Ends a `get`.
    func got(_ users: [UserID]) { getting -= max(1, users.count) }

    /// Begins to wait for a conversation's read.
    func joins(_ room: Room) {
        assert(phase == .open && !room.isOver, "only an open session joins, and only a room that lives")
        joining.append(room)
    }

    /// Ends a pending join. Assigns a filtered copy, here and below, because an empty array then holds no memory:
    /// nearly all sessions wait for nothing.
    func joinEnded(in room: Room) {
        joining = joining.filter { $0 != room }
    }

    func hasJoined(_ room: Room) -> Bool { joined.contains(room) }

    /// Whether it waits no longer for conversations, because an app's server once took its time to let it join one.
    var isTired = false

    /// Whether a conversation that may share users with it is still being joined. Until then it is shown of nobody that they were
    /// never seen: so nobody seems to go when a client comes back.
    var awaitsShares: Bool {
        guard watchRight != .all, !isTired else { return false }
        return joining.contains { $0.pendingJoins[self]?.withPresence == true }
            || joined.contains { !$0.pendingJoins.isEmpty && $0.pendingJoins[self]?.withPresence == true }
    }

    func joined(_ room: Room) {
        assert(phase == .open && !room.isOver, "only an open session joins, and only a room that lives")
        joined.append(room)
    }

    /// Removes the session from the conversation.
    func left(_ room: Room) {
        joined.removeAll { $0 == room }
        guard let index = sender(in: room) else { return }
        senders[index].typing.ended()
        senders[index].room = nil
    }

    // MARK: Typing

    // Most devices only read, so state is kept only for conversations in which the device has typed. It is kept for a
    // moment after the device leaves, so that leaving and joining again does not bypass the throttle.

    /// The session's typing in one conversation.
    private struct Sender {
        /// `nil` once the session has left the conversation.
        var room: Room?
        let conversation: ConversationID
        var typing: TypingSender
    }

    /// Where it has typed and is joined.
    var typesIn: [Room] { senders.compactMap(\.room) }

    /// Whether it has signalled typing there, and Redis may still show it.
    func isTyping(in conversation: ConversationID) -> Bool {
        senders.contains { $0.conversation == conversation && $0.typing.isSignalled }
    }

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

    /// Returns the signals that were held back until now, and the stops of typing that was not renewed.
    func typingDue(at now: Instant) -> [(conversation: ConversationID, decision: TypingSender.Decision)] {
        var due: [(ConversationID, TypingSender.Decision)] = []
        for index in senders.indices {
            while let decision = senders[index].typing.due(at: now) {
                due.append((senders[index].conversation, decision))
            }
        }
        return due
    }

    private func sender(in room: Room) -> Int? { senders.firstIndex { $0.room == room } }
}
