// One conversation that is observed or typed in: who is typing there, and who its members are.

/// What is shown of one conversation. Used on the client's queue only.
final class Room {
    /// How long after the worker's expiry a set of typists is dropped that was not repeated.
    private static let slack = Duration.seconds(2)
    /// The longest that a set is shown without a repetition, even if the worker's expiry is longer.
    private static let longest = Duration.seconds(10)
    /// How long the first list of members waits for everyone's presence, so that nobody reads "0 of 5 online".
    private static let patience = Duration.seconds(1)
    /// How long the first text waits for a name that the app was asked for, so that nobody reads "Someone" before it.
    private static let namePatience = Duration.milliseconds(100)

    let conversation: ConversationID
    let typing: Observed<Typing>
    let members: Observed<Members>
    let here: Observed<Here>
    /// Who keeps it open, and what was shown last, the latest at the end.
    fileprivate var entries: [(key: ObjectIdentifier, data: HereData?)] = []
    private var hereHeard: ServerMessage.Here?
    /// The user's own fields here whose views are shown.
    var fields: [TypingField] = []
    private unowned let engine: Engine
    private var typists: [Typist] = []
    private var count = 0
    private var refusal: RollcallError?
    /// When the typists count as gone: a worker repeats a set that lasts, so the last word on it may be lost.
    private var typingEnd: ContinuousClock.Instant?
    /// Until when the first text waits for a name.
    private var namedBy: ContinuousClock.Instant?
    /// The worker's list of members, and the ends of the observation of each one's presence.
    private var list: ServerMessage.Members?
    private var endings: [UserID: () -> Void] = [:]
    private var isComplete = false
    private var completeBy: ContinuousClock.Instant?

    init(_ conversation: ConversationID, in engine: Engine) {
        self.conversation = conversation
        self.engine = engine
        typing = Observed { [shared = engine.shared] latest in shared.withLock { $0.typing[conversation] = latest } }
        members = Observed { [shared = engine.shared] latest in shared.withLock { $0.members[conversation] = latest } }
        here = Observed { [shared = engine.shared] latest in shared.withLock { $0.here[conversation] = latest } }
    }

    var isUsed: Bool {
        typing.isObserved || members.isObserved || here.isObserved || !fields.isEmpty || !entries.isEmpty || isSharing
    }
    var parts: Parts { Parts(members.isObserved || isSharing ? [.members] : []).union(here.isObserved ? [.here] : []) }
    /// How many observations of its members' presence it lets this session make.
    fileprivate var shares = 0
    /// Whether it is joined for that: not where everybody may be seen, and not before the first welcome tells that.
    private var isSharing: Bool { shares > 0 && engine.right.map { $0 != .all } ?? false }

    /// Whether it certainly does not share a user with this session.
    func sharesNot(_ user: UserID) -> Bool {
        guard parts.contains(.members), refusal == nil else { return true }
        return list.map { list in !list.users.contains { $0.user == user } } ?? false
    }
    /// Of the fields that are typed in, the one edited last.
    var typedIn: TypingField? {
        var last: TypingField?
        for field in fields where field.isTyping && last.map({ $0.edited < field.edited }) ?? true { last = field }
        return last
    }
    /// The users whose names are shown here.
    var users: [UserID] { typists.map(\.user) + endings.keys + (hereHeard?.users.map(\.user) ?? []) }
    var deadline: ContinuousClock.Instant? {
        fields.reduce(earliest(earliest(typingEnd, namedBy), completeBy)) { earliest($0, $1.deadline) }
    }

    func deadlinePassed(at now: ContinuousClock.Instant) {
        if let typingEnd, now >= typingEnd { show([], count: 0, until: nil) }
        if let namedBy, now >= namedBy { show(typists, count: count, until: typingEnd) }
        if let completeBy, now >= completeBy {
            isComplete = true
            showMembers()
        }
    }

    /// Handles the worker's set. Users who continue to type keep their places; new ones follow in the worker's order.
    /// After a reconnect to a worker that learned of them in another order, no names swap places.
    func heard(_ message: ServerMessage.Typing, expiry: Duration, at now: ContinuousClock.Instant) {
        var present: [UserID: Typist] = [:]
        for typist in message.users { present[typist.user] = typist }
        var inPlace = typists.compactMap { present.removeValue(forKey: $0.user) }
        for typist in message.users {
            if let new = present.removeValue(forKey: typist.user) { inPlace.append(new) }
        }
        let count = max(message.count, inPlace.count)
        refusal = nil
        show(inPlace, count: count, until: count == 0 ? nil : now + min(expiry + Self.slack, Self.longest))
    }

    /// What is shown becomes empty.
    func emptied() {
        if typing.latest != nil { show([], count: 0, until: nil) }
        if members.latest != nil { members.update(Members(conversation: conversation)) }
        if here.latest != nil { here.update(Here(conversation: conversation)) }
    }

    /// Nobody uses it, and the worker no longer sends it.
    func dropped() {
        typing.forget()
        members.forget()
        here.forget()
    }

    /// Handles that the worker does not serve this conversation, or no longer. What it serves later is a first value
    /// again.
    func refused(_ error: RollcallError) {
        if error != refusal { engine.report(error) }
        refusal = error
        show([], count: 0, until: nil)
        endMembers()
        hereHeard = nil
        if here.isObserved { here.update(Here(conversation: conversation, refusal: error)) }
        if members.isObserved { members.update(Members(conversation: conversation, refusal: error)) }
    }

    private func show(_ typists: [Typist], count: Int, until end: ContinuousClock.Instant?) {
        (self.typists, self.count, typingEnd) = (typists, count, end)
        let named = typists.map {
            Typist(user: $0.user, name: engine.names.name(of: $0.user) ?? $0.name, kind: $0.kind)
        }
        let waits =
            typing.latest?.isEmpty ?? true && named.contains { $0.name == nil && engine.names.isAsked(for: $0.user) }
        namedBy = waits ? namedBy ?? engine.now + Self.namePatience : nil
        if let namedBy, engine.now < namedBy { return }
        namedBy = nil
        typing.update(Typing(conversation: conversation, typists: named, count: count, refusal: refusal))
    }

    /// Handles that names have come.
    func namesCame(of users: Set<UserID>) {
        if typists.contains(where: { users.contains($0.user) }) { show(typists, count: count, until: typingEnd) }
        if users.contains(where: { endings[$0] != nil }) { showMembers() }
        if hereHeard?.users.contains(where: { users.contains($0.user) }) == true { showHere() }
    }

    /// Handles who is here.
    func heard(_ message: ServerMessage.Here) {
        hereHeard = message
        showHere()
    }

    private func showHere() {
        guard let message = hereHeard else { return }
        let users = message.users.map { user in
            var user = user
            user.name = engine.names.name(of: user.user).map(ByteString.init) ?? user.name
            return user
        }
        here.update(
            Here(conversation: conversation, users: users, count: message.count, ownUser: engine.ownUser))
    }

    /// Nobody observes who is here, or nobody is known to be.
    func endHere() {
        hereHeard = nil
        here.forget()
    }

    /// Handles the worker's list. Each member's presence follows, without being asked for.
    func heard(_ message: ServerMessage.Members, at now: ContinuousClock.Instant) {
        let users = Set(message.users.map(\.user))
        for user in endings.keys where !users.contains(user) { endings.removeValue(forKey: user)?() }
        for user in users where endings[user] == nil {
            endings[user] = engine.people.observeMember(user) { [unowned self] in engine.rooms.membersChanged(in: self)
            }
        }
        list = message
        if !isComplete, completeBy == nil { completeBy = now + Self.patience }
        engine.rooms.membersChanged(in: self)
        engine.people.ruleChanged()
    }

    func showMembers() {
        guard let list else { return }
        let people = list.users.map {
            let presence = engine.people.latest(of: $0.user)
            // An entry without a name says none.
            let listed = $0.name.flatMap { $0.string.isEmpty ? nil : $0.string }
            return Member(
                user: $0.user, name: engine.names.name(of: $0.user) ?? listed ?? presence?.name, presence: presence)
        }
        isComplete = isComplete || people.allSatisfy { $0.presence != nil }
        guard isComplete else { return }
        completeBy = nil
        members.update(Members(conversation: conversation, people: people, count: list.count))
    }

    /// Presence is unknown until a new connection confirms it: for a list that is shown, that of everyone is awaited again.
    func presenceForgotten() {
        showMembers()
        (isComplete, completeBy) = (false, nil)
        endHere()
    }

    /// Handles that nobody observes the members, or that they are refused.
    func endMembers() {
        let endings = self.endings
        (self.endings, list, completeBy, isComplete) = ([:], nil, nil, false)
        for end in endings.values { end() }
        if !members.isObserved { members.forget() }
    }
}

/// The current value of one thing, and its observers. Used on the client's queue only.
final class Observed<Value: Equatable> {
    private(set) var latest: Value?
    private var observers: [(key: Int, isAsking: Bool, hear: (Value) -> Void, forgotten: () -> Void)] = []
    private var lastKey = 0
    /// Called before the observers with each value, and with `nil` when it is no longer known.
    private let share: (Value?) -> Void

    init(_ latest: Value? = nil, share: @escaping (Value?) -> Void = { _ in }) {
        (self.latest, self.share) = (latest, share)
    }

    var isObserved: Bool { !observers.isEmpty }
    /// Whether the worker must be asked for the value because of an observer.
    var isAskedFor: Bool { observers.contains { $0.isAsking } }

    /// Adds an observer, which gets the latest value at once, if there is one.
    ///
    /// - Parameters:
    ///   - asking: false if the worker sends the values without being asked.
    ///   - forgotten: called when the value is no longer known.
    /// - Returns: a function that removes it.
    func add(
        asking: Bool = true, _ hear: @escaping (Value) -> Void, forgotten: @escaping () -> Void = {}
    ) -> () -> Void {
        lastKey += 1
        let key = lastKey
        observers.append((key, asking, hear, forgotten))
        if let latest { hear(latest) }
        return { [weak self] in self?.observers.removeAll { $0.key == key } }
    }

    /// Stores the value and passes it to the observers, if it has changed.
    func update(_ value: Value) {
        guard value != latest else { return }
        latest = value
        share(value)
        for observer in observers { observer.hear(value) }
    }

    /// Drops the value. The next one is passed on even if it is the same.
    func forget() {
        guard latest.take() != nil else { return }
        share(nil)
        for observer in observers { observer.forgotten() }
    }
}

// MARK: All conversations

/// The conversations that are observed or typed in. The first use of one makes the client ask the worker for it, and the last
/// makes the client give it up. Used on the client's queue only.
final class Rooms {
    private unowned let engine: Engine
    private var rooms: [ConversationID: Room] = [:]
    /// Users whose names have come, and conversations whose members have changed, in this tick.
    private var named: Set<UserID> = []
    private var changed: Set<ConversationID> = []

    init(in engine: Engine) {
        self.engine = engine
    }

    var all: some Collection<Room> { rooms.values }
    /// The user's own fields, in the order of their conversations.
    var fields: [TypingField] { rooms.keys.sorted().flatMap { rooms[$0]?.fields ?? [] } }

    subscript(conversation: ConversationID) -> Room? { rooms[conversation] }

    func observe(_ conversation: ConversationID, _ add: (Room) -> () -> Void) -> () -> Void {
        let room = open(conversation)
        let remove = add(room)
        want(room)
        return { [weak self] in
            remove()
            self?.want(room)
        }
    }

    /// Has the conversation joined with presence, if that is what lets this session see its members.
    func share(_ conversation: ConversationID) -> () -> Void {
        observe(conversation) { room in
            room.shares += 1
            return { room.shares -= 1 }
        }
    }

    /// Another rule decides who may be seen.
    func ruleChanged() {
        for room in rooms.values where room.shares > 0 { want(room) }
    }

    /// Somebody has the conversation open, and shows this; or no longer.
    func enter(_ conversation: ConversationID, _ data: HereData?, by key: ObjectIdentifier) {
        let room = open(conversation)
        room.entries.removeAll { $0.key == key }
        room.entries.append((key, data))
        entriesChanged(in: room)
    }

    func exit(_ conversation: ConversationID, by key: ObjectIdentifier) {
        guard let room = rooms[conversation], room.entries.contains(where: { $0.key == key }) else { return }
        room.entries.removeAll { $0.key == key }
        entriesChanged(in: room)
    }

    private func entriesChanged(in room: Room) {
        engine.outbox.enter(room.conversation, room.entries.last.map { $0.data })
        want(room)
    }

    func open(_ conversation: ConversationID) -> Room {
        if let known = rooms[conversation] { return known }
        let new = Room(conversation, in: engine)
        rooms[conversation] = new
        return new
    }

    /// Asks the worker for the conversation as far as it is used, or gives it up.
    func want(_ room: Room) {
        guard rooms[room.conversation] === room else { return }
        if room.isUsed {
            engine.outbox.conversations.want(room.conversation, room.parts)
        } else {
            engine.outbox.conversations.unwant(room.conversation)
        }
        tidy(room.conversation)
        engine.changed()
    }

    /// Drops a conversation, or only its members, if it is not used and the worker no longer sends it.
    func tidy(_ conversation: ConversationID) {
        guard let room = rooms[conversation] else { return }
        let way = engine.outbox.conversations.way(of: conversation)
        if !room.members.isObserved, way?.contains(.members) != true { room.endMembers() }
        if !room.here.isObserved, way?.contains(.here) != true { room.endHere() }
        if !room.isUsed, room.shares == 0, way == nil { rooms.removeValue(forKey: conversation)?.dropped() }
    }

    func tidyAll() {
        for conversation in rooms.keys { tidy(conversation) }
    }

    func membersChanged(in room: Room) {
        changed.insert(room.conversation)
        engine.changed()
    }

    func nameCame(of user: UserID) {
        named.insert(user)
        engine.changed()
    }

    /// Shows, at the end of a tick, what has changed in it.
    func settle() {
        let (named, changed) = (named, changed)
        (self.named, self.changed) = ([], [])
        if !named.isEmpty { for room in rooms.values { room.namesCame(of: named) } }
        for conversation in changed { rooms[conversation]?.showMembers() }
    }

    func close() {
        for room in rooms.values { room.emptied() }
        rooms = [:]
    }

    // A list of conversations, observed with one call.

    /// Emits at most one value per tick, however many rows have changed.
    func observe(
        _ rows: [ConversationID: [UserID]], _ hear: @escaping ([ConversationID: ConversationState]) -> Void
    ) -> () -> Void {
        var states = rows.keys.reduce(into: [:]) {
            $0[$1] = ConversationState(typing: Typing(conversation: $1), presences: [:])
        }
        var (isDue, isOver) = (false, false)
        let changed: () -> Void = { [unowned engine] in
            guard !isDue else { return }
            isDue = true
            engine.atEndOfTick {
                isDue = false
                if !isOver { hear(states) }
            }
        }
        let rowsOf = rows.reduce(into: [UserID: [ConversationID]]()) { rowsOf, row in
            for user in Set(row.value) { rowsOf[user, default: []].append(row.key) }
        }
        var endings = rows.keys.sorted().map { conversation in
            observe(conversation) {
                $0.typing.add {
                    states[conversation]?.typing = $0
                    changed()
                }
            }
        }
        endings.append(
            engine.people.observe(
                rowsOf.keys.sorted(), in: rows.filter { !$0.value.isEmpty }.keys.sorted()
            ) { presence in
                for row in rowsOf[presence.user] ?? [] { states[row]?.presences[presence.user] = presence }
                changed()
            } forgotten: { user in
                for row in rowsOf[user] ?? [] { states[row]?.presences[user] = nil }
                changed()
            })
        changed()
        return {
            isOver = true
            for end in endings { end() }
        }
    }
}
