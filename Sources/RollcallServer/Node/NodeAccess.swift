// The requests of servers to a worker's node, in process or through the admin port.

internal import NIOConcurrencyHelpers
internal import NIOCore
package import RollcallCore
public import RollcallProtocol
package import RollcallRedis

/// A node as the admin port and embedding servers see it.
///
/// Every method throws ``Unavailable`` while Redis is away.
public protocol NodeAccess: Sendable {
    /// Returns the presence of these users, in the same order. A user who was never seen is offline without a last-seen
    /// time.
    ///
    /// - Parameters:
    ///   - users: whose.
    ///   - viewer: whom it is for: they see what a session of theirs without a claim `watch` would. `nil` for a server, which
    ///     sees what users hide.
    ///   - conversation: one that may share the users with the viewer.
    func presence(
        of users: [UserID], as viewer: UserID?, in conversation: ConversationID?
    ) async throws -> [Presence]

    /// Returns what Redis holds of these users, in the same order: what events tell. Devices of a worker that has died count
    /// until they are swept, within the lease plus two seconds.
    func storedPresence(of users: [UserID]) async throws -> [Presence]

    /// Returns who is typing in this conversation.
    func typing(in conversation: ConversationID) async throws -> ServerMessage.Typing

    /// Returns who has this conversation open: at most 1,000 of them, the longest here first, and how many there are. What a
    /// worker held that has died does not count among these, and among the others until it is swept, within the lease plus two
    /// seconds.
    func here(in conversation: ConversationID) async throws -> ServerMessage.Here

    /// Returns the members' display names; `nil` if the conversation is not managed.
    func members(of conversation: ConversationID) async throws -> [UserID: String]?

    /// Replaces all members. The conversation is then managed, even if it has no members.
    func setMembers(_ members: [UserID: String], of conversation: ConversationID) async throws

    /// Adds or renames a member. The conversation is then managed.
    func setMember(_ user: UserID, name: String, of conversation: ConversationID) async throws

    /// Removes a member, ends their typing, and notifies their sessions.
    func removeMember(_ user: UserID, of conversation: ConversationID) async throws

    /// Deletes the member list. `conversations.default` then applies.
    func endMembership(of conversation: ConversationID) async throws

    /// Whether load balancers should send devices here: the worker is not stopping, and Redis was not away for long.
    var isReady: Bool { get }
}

extension NodeAccess {
    /// Returns the presence of these users as a server sees it, in the same order.
    public func presence(of users: [UserID]) async throws -> [Presence] {
        try await presence(of: users, as: nil, in: nil)
    }
}

/// Redis is away, or refuses what was asked. The same call may succeed later.
public struct Unavailable: Error, Hashable, Sendable, CustomStringConvertible {
    /// When to retry.
    public var retryAfter: Duration
    /// Whether Redis answers but refuses writes. Reads then succeed.
    public var refusesWrites: Bool
    /// A sentence for people. "Redis is away" is said of nothing else.
    public var description: String

    public init(retryAfter: Duration = .seconds(1), refusesWrites: Bool = false) {
        self.retryAfter = retryAfter
        self.refusesWrites = refusesWrites
        description =
            refusesWrites ? "Redis refuses writes but answers reads" : "Redis is away, or was until just now"
    }

    package init(_ error: RedisError) {
        self.init(refusesWrites: error.refusesWrites)
        if error.refusesWrites || error.reply == nil && error.code != .protocolError { return }
        description =
            error.isDenied
            ? "Redis denies the worker a right; rollcall doctor names it, and docs/redis.md has the rules (\(error))"
            : "Redis refuses this (\(error))"
    }
}

// MARK: Requests

// Requests of servers to a node.

extension Node: NodeAccess {
    package func presence(
        of users: [UserID], as viewer: UserID?, in conversation: ConversationID?
    ) async throws -> [Presence] {
        try await seen(users, as: viewer, in: conversation).map(\.shown.presence)
    }

    package func sight(
        of user: UserID, as viewer: UserID, in conversation: ConversationID?
    ) async throws -> Sight {
        try await seen([user], as: viewer, in: conversation)[0].sight
    }

    private func seen(
        _ users: [UserID], as viewer: UserID?, in conversation: ConversationID?
    ) async throws -> [(shown: ShownPresence, sight: Sight)] {
        var asker: Asker?
        if let viewer {
            var room: RoomSnapshot?
            if let conversation {
                let most = settings.shard.sharedMembers
                room = try await ask { store, reply in
                    store.room(conversation, users: [viewer], withTyping: false, mostMembers: most, reply: reply)
                }
            }
            asker = Asker(viewer, try await person(of: viewer), in: room)
        }
        let known = try await first { $0.shard.redis.known(at: $0.now) }
        let snapshot = try await ask { store, reply in store.presence(of: users, known: known, reply: reply) }
        let presences = try await first { [asker] in $0.presences(in: snapshot, for: asker) }
        guard snapshot.unread.isEmpty else { throw unavailable }
        return presences
    }

    package func storedPresence(of users: [UserID]) async throws -> [Presence] {
        let snapshot = try await ask { store, reply in
            store.presence(of: users, known: KnownWorkers(), reply: reply)
        }
        guard snapshot.unread.isEmpty else { throw unavailable }
        return snapshot.records.map { $0.presence(past: [:]) }
    }

    package func eventsPage(after cursor: EventID, limit: Int) async throws -> EventsPage? {
        guard settings.store.keptEvents != nil else { return nil }
        return try await ask { store, reply in store.events(after: cursor, limit: limit, reply: reply) }
    }

    package func typing(in conversation: ConversationID) async throws -> ServerMessage.Typing {
        let names = typingNames
        let snapshot = try await ask { store, reply in
            store.room(conversation, users: [], withTyping: true, mostMembers: 0, reply: reply)
        }
        let typists = snapshot.typists.map { Typist(user: $0.user, name: $0.name?.string, kind: $0.kind) }
        return ServerMessage.Typing(
            conversation: conversation, users: Array(typists.prefix(names)), count: typists.count)
    }

    package func members(of conversation: ConversationID) async throws -> [UserID: String]? {
        var members: [UserID: String] = [:]
        var cursor = MembersPage.start
        while let page = try await membersPage(of: conversation, from: cursor, limit: Self.pagedMembers) {
            members.merge(page.members.mapValues(\.string)) { first, _ in first }
            guard let next = page.next else { return members }
            cursor = next
        }
        return nil
    }

    /// How many members are read at once.
    private static let pagedMembers = 10_000

    package func membersPage(
        of conversation: ConversationID, from cursor: UInt64, limit: Int
    ) async throws -> MembersPage? {
        try await ask { store, reply in
            store.membersPage(of: conversation, from: cursor, limit: limit, reply: reply)
        }
    }

    package func setMembers(_ members: [UserID: String], of conversation: ConversationID) async throws {
        try await ask { store, reply in store.setMembers(members, of: conversation, reply: reply) }
    }

    package func setMember(_ user: UserID, name: String, of conversation: ConversationID) async throws {
        try await ask { store, reply in store.setMember(user, name: name, of: conversation, reply: reply) }
    }

    package func removeMember(_ user: UserID, of conversation: ConversationID) async throws {
        try await ask { store, reply in store.removeMember(user, of: conversation, reply: reply) }
    }

    package func endMembership(of conversation: ConversationID) async throws {
        try await ask { store, reply in store.deleteMembers(of: conversation, reply: reply) }
    }
}

extension Node {
    package func dropAccess(of user: UserID?, to conversation: ConversationID) async throws {
        let _: AccessWritten = try await ask { store, reply in
            store.dropAccess(of: user, to: conversation, reply: reply)
        }
    }

    package func person(of user: UserID) async throws -> Person? {
        try await ask { store, reply in store.person(of: user, reply: reply) }
    }

    package func change(
        _ user: UserID, _ kind: PersonWrite.Kind, _ patch: PersonPatch, blocks: [UserID: Bool]
    ) async throws -> Person {
        // Redis would be asked to count them all.
        guard blocks.count <= Person.mostBlocked else { throw TooManyBlocked() }
        let write = PersonWrite(
            of: user, kind, settings: try patch.settings(at: try await redisTime()), blocks: blocks)
        let written = try await ask { store, reply in store.write(write, reply: reply) }
        guard !written.isTooMuch else { throw TooManyBlocked() }
        let person = written.person ?? Person()
        for incarnation in written.incarnations where person.revision > 0 {
            let _: Bool = try await ask { store, reply in
                store.announce(.person(user, revision: person.revision), to: incarnation, reply: reply)
            }
        }
        return person
    }

    package var isOpenByDefault: Bool { settings.shard.join == .all }

    package func access(of user: UserID, to conversation: ConversationID) async throws -> RoomSnapshot {
        try await ask { store, reply in
            store.room(conversation, users: [user], withTyping: false, mostMembers: 0, reply: reply)
        }
    }

    /// As ``RollcallRedis/Store/claimDelivery(by:for:delivered:isOffered:notes:reply:)``.
    package func claimDelivery(
        by claimant: String, for duration: Duration, delivered: EventID?, isOffered: Bool, notes: String?
    ) async throws -> DeliveryClaim? {
        try await ask { store, reply in
            store.claimDelivery(
                by: claimant, for: duration, delivered: delivered, isOffered: isOffered, notes: notes, reply: reply)
        }
    }

    package func latestEvent() async throws -> EventID? {
        guard settings.store.keptEvents != nil else { return nil }
        return try await ask { store, reply in store.latestEvent(reply: reply) }
    }

    /// The length of the stream of events.
    package func eventCount() async throws -> Int64 {
        try await ask { store, reply in store.eventCount(reply: reply) }
    }

    /// By the worker's estimate.
    package func redisTime() async throws -> Timestamp {
        try await first { $0.shard.redis.time(at: $0.now) }
    }

    /// How long a caller waits who wants to know whether to push.
    private static let pushPatience = TimeAmount.seconds(1)

    package func reach(of users: [UserID]) async -> [Reach] {
        let unknown = users.map(Reach.init(unknown:))
        let answer = loops[0].makePromise(of: [Reach].self)
        let late = loops[0].scheduleTask(in: Self.pushPatience) { answer.succeed(unknown) }
        defer { late.cancel() }
        Task { answer.succeed((try? await knownReach(of: users)) ?? unknown) }
        return (try? await answer.futureResult.get()) ?? unknown
    }

    private func knownReach(of users: [UserID]) async throws -> [Reach] {
        // Names no worker as alive: each device is needed, and not only a count of them.
        let known = try await first { KnownWorkers(own: $0.shard.redis.incarnation) }
        let snapshot = try await ask { store, reply in store.presence(of: users, known: known, reply: reply) }
        let found = try await first { $0.shard.reach(in: snapshot, at: $0.now) }
        return users.map { found[$0] ?? Reach(unknown: $0) }
    }
}

extension ShardDriver {
    /// Returns the visible presence of these users.
    fileprivate func presences(
        in snapshot: PresenceSnapshot, for asker: Asker?
    ) -> [(shown: ShownPresence, sight: Sight)] {
        shard.after { shard, _ in shard.metDead(in: snapshot) }
        return shard.presences(in: snapshot, for: asker)
    }
}

// MARK: Typing of servers

// Users who type on behalf of an app's server: bots, agents and gateways, without a session. This worker renews them for
// as long as the server said, unless another worker was told something else since.

/// What a server has said of a user's typing, until it ends or the server says something else.
struct ServerTyping: Hashable, Sendable {
    /// The most that one worker renews.
    ///
    /// Limit: users that a worker shows as typing for servers. More get 429.
    static let most = 10_000

    struct Place: Hashable, Sendable {
        let user: UserID
        let conversation: ConversationID
    }

    /// Differs from one request to the next.
    let device: DeviceID
    let kind: TypingKind
    var profile = Profile()
    let end: ContinuousClock.Instant
}

extension Node {
    /// Shows a user as typing for this long, in place of what a server has said of the user there before.
    ///
    /// - Throws: ``RollcallCore/BackendRefusal``; ``Unavailable``.
    package func type(
        _ user: UserID, as profile: Profile, in conversation: ConversationID, kind: TypingKind, for duration: Duration
    ) async throws {
        let place = ServerTyping.Place(user: user, conversation: conversation)
        let typing = ServerTyping(
            device: .ofServer(mark: .random(in: 0...(.max))), kind: kind, profile: profile, end: .now + duration)
        let isRoom = serverTypings.withLockedValue { $0[place] != nil || $0.count < ServerTyping.most }
        guard isRoom else { throw BackendRefusal.tooMany }
        guard try await say(typing, at: place, .begin) != .notAMember else { throw BackendRefusal.notAMember }
        serverTypings.withLockedValue { $0[place] = typing }
        let pause = settings.store.typingExpiry / 2
        Task { [weak self] in
            repeat {
                try? await Task.sleep(for: min(pause, typing.end - .now))
            } while await self?.renew(typing, at: place) == true
        }
    }

    /// - Returns: whether to renew it again.
    private func renew(_ typing: ServerTyping, at place: ServerTyping.Place) async -> Bool {
        guard serverTypings.withLockedValue({ $0[place] }) == typing else { return false }
        if .now < typing.end, (try? await say(typing, at: place, .renew)) ?? .typing == .typing { return true }
        forget(typing, at: place)
        return false
    }

    private func forget(_ typing: ServerTyping, at place: ServerTyping.Place) {
        serverTypings.withLockedValue { if $0[place] == typing { $0[place] = nil } }
    }

    /// Ends whatever servers have said of a user's typing.
    ///
    /// - Throws: ``Unavailable``.
    package func stopTyping(_ user: UserID, in conversation: ConversationID) async throws {
        let place = ServerTyping.Place(user: user, conversation: conversation)
        _ = try await say(ServerTyping(device: .ofServer(mark: 0), kind: .typing, end: .now), at: place, .end)
        serverTypings.withLockedValue { $0[place] = nil }
    }

    /// Ends what servers have said of the typing of a user who was erased.
    func endTypings(of user: UserID) {
        let places = serverTypings.withLockedValue { $0.keys.filter { $0.user == user } }
        for place in places {
            serverTypings.withLockedValue { $0[place] = nil }
            Task { try await stopTyping(user, in: place.conversation) }
        }
    }

    private func say(
        _ typing: ServerTyping, at place: ServerTyping.Place, _ step: ServerTypingStep
    ) async throws -> TypingOutcome {
        let rest = min(settings.store.typingExpiry, typing.end - .now)
        let signal = TypingSignal(
            user: place.user, device: typing.device, conversation: place.conversation,
            expiry: try await redisTime().advanced(by: rest), kind: typing.kind,
            name: typing.profile.name)
        return try await ask { store, reply in store.serverTypes(signal, step, reply: reply) }
    }
}
