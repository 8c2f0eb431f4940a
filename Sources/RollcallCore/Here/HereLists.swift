// Who is here, as sessions are told: the first of them, and how many there are. Always the whole, at a pace that grows with the
// room, so that a crowd that comes and goes costs each reader the same.

internal import RollcallProtocol

/// Owns what sessions were sent of who is in each room, and the rooms where that has changed since.
final class HereLists {
    private let loop: Loop
    private let outbound: Outbound
    private let rooms: Directory<ConversationID, Room>
    private let backendEntries: BackendEntries
    /// Rooms where somebody came, changed or went.
    private var changes = ChangeQueue<Room>()

    init(
        _ loop: Loop, _ outbound: Outbound, _ rooms: Directory<ConversationID, Room>, _ backendEntries: BackendEntries
    ) {
        (self.loop, self.outbound, self.rooms, self.backendEntries) = (loop, outbound, rooms, backendEntries)
    }

    /// Rooms with changes that were not sent yet.
    var changeCount: Int { changes.count }

    // MARK: Who follows

    /// Has a session follow who is in the room, or shows it again.
    func follow(_ room: Room, for session: Session) {
        if room.here == nil {
            room.here = ShownHere(names: loop.settings.hereNames)
            loop.store.subscribe(.here(room.conversation))
        }
        room.here?.followers.insert(session)
        outbound.enqueue([.here(room)], for: session)
    }

    func unfollow(_ room: Room, for session: Session) {
        guard room.here?.followers.remove(session) == true else { return }
        outbound.cancel(.here(room), for: session)
        guard room.here?.followers.isEmpty == true else { return }
        room.here = nil
        loop.store.unsubscribe(.here(room.conversation))
    }

    // MARK: Channels and the lease

    /// A read that starts now misses nothing.
    func confirmed(_ conversation: ConversationID, at now: Instant) {
        guard let room = rooms[conversation] else { return }
        room.here?.isConfirmed = true
        read(room, at: now)
    }

    func channelLost(_ conversation: ConversationID) { rooms[conversation]?.here?.isConfirmed = false }

    func channelsLost() {
        for room in rooms.all { room.here?.isConfirmed = false }
    }

    func readAgain(at now: Instant) {
        for room in rooms.all { read(room, at: now) }
    }

    /// Reads again where a read failed, and where it left somebody out: a worker that was only cut off writes its entries again,
    /// which changes nothing that is published.
    func retryReads(at now: Instant) {
        for room in rooms.all where room.here?.lacksRead == true { read(room, at: now) }
    }

    // MARK: What is published and read

    /// Handles a published change.
    func published(_ change: HereChange, in conversation: ConversationID, at now: Instant) {
        guard let room = rooms[conversation], room.here != nil else { return }
        // A cluster whose network was split delivers late what the other side published. Or Redis's clock was set back, and the
        // next read has the new time.
        guard room.here?.isOlder(change) == false else { return read(room, at: now) }
        room.here?.changed(change, isSettling: loop.redis.judgement.isSettling, at: now)
        remindOfEnds(room)
        changes.insert(room)
        if room.here?.hasTooFew == true { read(room, at: now) }
    }

    /// Handles a published change that only a later version can read.
    func unreadable(in conversation: ConversationID, at now: Instant) {
        if let room = rooms[conversation] { read(room, at: now) }
    }

    private func read(_ room: Room, at now: Instant) {
        guard loop.redis.answersReads, room.here?.readBegan() == true else { return }
        let (isSettling, mark) = (loop.redis.judgement.isSettling, room.here?.mark)
        let read = RoomRead(
            conversation: room.conversation, users: [], withTyping: false, mostMembers: 0,
            mostHere: 2 * loop.settings.hereNames)
        loop.store.room(read) { [self] reply in
            loop.after { now in
                // Whoever follows now may have begun after the last one had left.
                guard !room.isOver, let here = room.here, here.mark == mark else { return }
                guard let snapshot = try? reply.get(), let read = snapshot.here else {
                    room.here?.readFailed()
                    return
                }
                self.read(
                    judged(read, at: snapshot.time, now: now), at: snapshot.time, of: room, isSettling: isSettling,
                    now: now)
            }
        }
    }

    private func read(_ read: HereSnapshot, at time: Timestamp, of room: Room, isSettling: Bool, now: Instant) {
        room.here?.read(read, at: time, isSettling: isSettling || loop.redis.judgement.isSettling, now: now)
        remindOfEnds(room)
        if let here = room.here, here.shown == nil {
            room.here?.told(here.message(of: room.conversation), at: now)
            outbound.becameKnown(to: Set(here.followers.elements))
        }
        changes.insert(room)
        if room.here?.isToBeReadAgain == true { self.read(room, at: now) }
    }

    private func remindOfEnds(_ room: Room) {
        if let first = room.here?.firstEnd { loop.remind(.hereEnds(room), at: first) }
    }

    /// Handles that somebody has been here for as long as apps' servers have said, and nobody has ended it.
    func due(_ room: Room, at now: Instant) {
        guard !room.isOver, let first = room.here?.firstEnd else { return }
        if now < first { remindOfEnds(room) } else { read(room, at: now) }
    }

    /// Returns who is here of those that were read: without what dead incarnations held, and what apps' servers have said and has
    /// ended. Both are removed, in case nobody else does. While an outage settles, what has ended may still be written again:
    /// Redis's clock may have been set.
    func judged(_ read: HereSnapshot, at time: Timestamp, now: Instant) -> HereSnapshot {
        sweepDead(read, at: now)
        let judgement = loop.redis.judgement
        guard !judgement.isSettling else { return read }
        let latest = time.advanced(by: .zero - Self.ending)
        let ended = read.entries { $0.ends.map { $0 <= latest } ?? false }
        backendEntries.adopt(
            ended.compactMap { if case .entry(let name) = $0.item { name } else { nil } }, of: nil)
        var read = read
        // What dead workers held for apps' servers is adopted.
        read.leaveOut { line in line.ends.map { $0 <= latest } ?? judgement.isDead(line.incarnation) }
        return read
    }

    /// Who holds an entry ends it; others do later.
    static let ending = Duration.milliseconds(500)

    private func sweepDead(_ read: HereSnapshot, at now: Instant) {
        let known = loop.redis.known(at: now)
        let strange = read.entries().filter { $0.incarnation != known.own && !known.living.contains($0.incarnation) }
        if !strange.isEmpty { loop.host.sweep(strange) }
    }

    // MARK: What is sent

    /// A change of the room may be sent now.
    func queue(_ room: Room) { changes.insert(room) }

    func sendChanges(at now: Instant) {
        for room in changes.take(loop.settings.bounds.tellBatch) where !room.isOver {
            guard let here = room.here, let told = here.shown else { continue }
            guard !outbound.isTickFull else {
                changes.insert(room)
                continue
            }
            let moment = here.mayTell(every: loop.settings.presenceCoalesce)
            guard now >= moment else {
                loop.remind(.here(room), at: moment)
                continue
            }
            let message = here.message(of: room.conversation)
            guard message != told else { continue }
            room.here?.told(message, every: loop.settings.presenceCoalesce, at: now)
            outbound.send(.here(message), of: .here(room), to: here.followers.elements)
        }
    }
}

// MARK: Who is in a room

/// Who is in a room, the sessions that follow this, and what they were last sent.
struct ShownHere {
    /// Identifies who follows: another after the last one had left.
    let mark = Mark()
    final class Mark: Equatable {
        static func == (left: Mark, right: Mark) -> Bool { left === right }
    }

    var followers = IndexedSet<Session>()
    /// Whether the channel is confirmed.
    var isConfirmed = false
    private let names: Int
    /// Those who are known: all, or the longest here.
    private var users: [UserID: HereUser] = [:]
    /// The number of sessions of each of them, where that is certain.
    private var sessions: [UserID: Int] = [:]
    private var count = 0
    /// Whether there are more than those who are known; and the last of these.
    private var isPartial = false
    private var last: HereUser?
    /// Users who are stored but do not count: only dead workers hold them, or what servers have said of them has ended.
    private var leftOut: Set<UserID> = []
    /// The time of the last read.
    private var readAt: Timestamp?
    private var isReading = false
    private(set) var isToBeReadAgain = false
    private var hasFailed = false
    /// Whether the last read left lines out.
    private var lacksLines = false
    /// When users end who are here only as apps' servers have said, if nobody ends it before.
    private var ends: [UserID: Instant] = [:]
    /// What came during a read, which may be older. In order: the count of the last one counts.
    private var meanwhile: [(change: HereChange, at: Instant)] = []

    /// What was last sent; `nil` before the first read.
    private(set) var shown: ServerMessage.Here?
    private var lastTold: Instant?
    /// About how many bytes that was.
    private var size = 0
    private var pace = ChangePace()

    init(names: Int) { self.names = names }

    // MARK: Reads and changes

    var lacksRead: Bool { (hasFailed || lacksLines) && !isReading }

    /// Begins a read, unless the channel is not confirmed; its confirmation asks again.
    ///
    /// - Returns: false if none begins now. One that is under way may be older than what it is asked for: another follows it.
    mutating func readBegan() -> Bool {
        guard isConfirmed else { return false }
        isToBeReadAgain = isReading
        guard !isReading else { return false }
        (isReading, hasFailed, lacksLines) = (true, false, false)
        return true
    }

    mutating func readFailed() {
        (isReading, isToBeReadAgain, hasFailed, meanwhile) = (false, false, true, [])
    }

    /// While an outage settles, others may still have to write what Redis has lost: nobody goes, and the count does not fall.
    mutating func read(_ snapshot: HereSnapshot, at time: Timestamp, isSettling: Bool, now: Instant) {
        let (before, isFirst) = ((users: users, count: count, sessions: sessions), readAt == nil)
        (isReading, readAt) = (false, time)
        let found = snapshot.users
        lacksLines = snapshot.lacksLines
        users = Dictionary(found.map { ($0.user, $0) }) { first, _ in first }
        (sessions, count, leftOut) = (snapshot.sessions, snapshot.count, snapshot.leftOut)
        // While an outage settles, they may be another clock's; once it has, everything is read again.
        ends = isSettling ? [:] : snapshot.ends.mapValues { Self.end(after: $0.since(time), now) }
        let (read, stored) = (found.count + leftOut.count, count + leftOut.count)
        isPartial = read >= min(2 * names, stored) && read != stored
        last = isPartial ? found.last : nil
        if isSettling {
            for (user, former) in before.users { users[user] = users[user].map { $0.atLeast(former) } ?? former }
            // Before this room was followed there may have been more.
            if isFirst { sessions = [:] } else { sessions.merge(before.sessions, uniquingKeysWith: max) }
            count = max(count, before.count, users.count)
        }
        for (change, came) in meanwhile where change.at >= time { apply(change, isSettling: isSettling, at: came) }
        meanwhile = []
        forgetMost()
    }

    /// Whether it is from before the last read, by more than messages may come later than a reply, in order.
    func isOlder(_ change: HereChange) -> Bool { readAt.map { change.at.advanced(by: .seconds(1)) < $0 } ?? false }

    mutating func changed(_ change: HereChange, isSettling: Bool, at now: Instant) {
        if isReading { meanwhile.append((change, now)) }
        apply(change, isSettling: isSettling, at: now)
        forgetMost()
    }

    /// While an outage settles, Redis may have lost what other sessions of the user have entered. Then only who leaves of their
    /// own accord with the last session that was known goes, and Redis's count may be too low.
    private mutating func apply(_ change: HereChange, isSettling: Bool, at now: Instant) {
        let (user, former) = (change.user, users[change.user])
        var left = change.sessions
        if isSettling {
            let known = sessions[user] ?? (former == nil && !isPartial ? 0 : .max)
            left = max(left, change.isOwnExit ? max(1, known) - 1 : known)
        }
        let isGone = change.here == nil && (!isSettling || left == 0)
        let others = isGone && former != nil ? max(1, count) - 1 : count
        leftOut.remove(user)
        count = isSettling ? max(others, change.count) : max(0, change.count - leftOut.count)
        if isGone {
            users[user] = nil
        } else if let here = change.here {
            if let former {
                users[user] = isSettling ? here.atLeast(former) : here
            } else if last.map({ here.isBefore($0) }) ?? true {
                users[user] = here
            }
        }
        sessions[user] = users[user] == nil ? nil : left
        ends[user] = users[user] == nil ? nil : change.expiresIn.map { Self.end(after: $0, now) }
    }

    private static func end(after rest: Duration, _ now: Instant) -> Instant {
        now + min(max(.zero, rest), HereLine.longest) + HereLists.ending * 2
    }

    /// When the first of them ends.
    var firstEnd: Instant? { ends.values.min() }

    /// Whether those who are known are too few to show.
    var hasTooFew: Bool { isPartial && users.count < min(names, count) }

    private mutating func forgetMost() {
        guard users.count > 4 * names else { return }
        let first = inOrder.prefix(2 * names)
        users = Dictionary(uniqueKeysWithValues: first.map { ($0.user, $0) })
        isPartial = true
        sessions = sessions.filter { users[$0.key] != nil }
        ends = ends.filter { users[$0.key] != nil }
        last = first.last
    }

    private var inOrder: [HereUser] { users.values.sorted { $0.isBefore($1) } }

    // MARK: What is sent

    /// In a room of more than can be named, without data.
    func message(of conversation: ConversationID) -> ServerMessage.Here {
        var named = Array(inOrder.prefix(names))
        if count > names { for index in named.indices { named[index].data = nil } }
        return ServerMessage.Here(conversation: conversation, users: named, count: max(count, named.count))
    }

    /// When a change may be sent: the first four after a quiet time at once, unless that is much, and later ones at the pace.
    func mayTell(every interval: Duration) -> Instant {
        guard let lastTold, isCrowd || size * followers.elements.count > Self.atOnce else {
            return pace.next(every: self.interval(interval))
        }
        return lastTold + self.interval(interval)
    }

    mutating func told(_ message: ServerMessage.Here, every interval: Duration = .zero, at now: Instant) {
        (shown, lastTold, size) = (message, now, message.size)
        pace.passed(at: now, every: interval == .zero ? .zero : self.interval(interval))
    }

    /// The most bytes that go to all followers without a pause.
    private static let atOnce = 1 << 20
    /// The slowest pace.
    private static let slowest = Duration.seconds(5)

    private var isCrowd: Bool { max(count, shown?.count ?? 0) > names }

    /// The time between two messages: longer in large rooms, and where each reader, or all together, would get too many bytes a
    /// second.
    private func interval(_ least: Duration) -> Duration {
        let crowd = isCrowd ? (max(count, shown?.count ?? 0) > 1000 ? Self.slowest : .seconds(2)) : least
        let each = Duration.seconds(1) * size / 16_384
        let all = Duration.seconds(1) * (size * followers.elements.count) / 2_000_000
        return max(crowd, min(Self.slowest, max(each, all)))
    }
}

extension HereUser {
    /// The longest here first, then by bytes.
    fileprivate func isBefore(_ other: HereUser) -> Bool { (since, user) < (other.since, other.user) }

    /// As present as it was: not idle if it was not, and not shorter here.
    fileprivate func atLeast(_ former: HereUser) -> HereUser {
        var user = self
        user.isIdle = isIdle && former.isIdle
        user.since = min(since, former.since)
        return user
    }
}
