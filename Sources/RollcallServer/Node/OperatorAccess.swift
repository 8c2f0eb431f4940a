// The requests of operators to a worker's node, in addition to those of servers.

internal import NIOConcurrencyHelpers
internal import NIOCore
package import RollcallCore
package import RollcallProtocol
internal import RollcallRedis

/// A user would have blocked more than ``RollcallProtocol/Person/mostBlocked`` others.
package struct TooManyBlocked: Error {}

/// A node as the admin port sees it.
///
/// Every method except ``live()`` throws ``Unavailable`` while Redis is away.
package protocol OperatorAccess: NodeAccess {
    /// Whether the worker is about to stop.
    var isDraining: Bool { get }

    /// Whether it takes devices, whatever it has of Redis: from its first lease until it stops.
    var isServing: Bool { get }

    /// Why the worker is not ready, or what does not work although it is; `nil` if all is well.
    var reason: String? { get }

    /// Returns one page of a conversation's members; `nil` if the conversation is not managed.
    ///
    /// - Throws: ``Unavailable``.
    func membersPage(of conversation: ConversationID, from cursor: UInt64, limit: Int) async throws -> MembersPage?

    /// Returns the events behind a cursor, at most `limit` and a reset; `nil` if events are off.
    ///
    /// - Throws: ``Unavailable``.
    func eventsPage(after cursor: EventID, limit: Int) async throws -> EventsPage?

    /// Returns the newest event, behind which those that come are read; `nil` if events are off.
    ///
    /// - Throws: ``Unavailable``.
    func latestEvent() async throws -> EventID?

    /// Returns for each of these users whether an app's server should send a push notification, in the same order. It
    /// does not throw: whom it could not ask about is unknown.
    func reach(of users: [UserID]) async -> [Reach]

    /// Shows a user as typing for this long, in place of what a server has said of the user there before.
    ///
    /// - Throws: ``RollcallCore/BackendRefusal``; ``Unavailable``.
    func type(
        _ user: UserID, as profile: Profile, in conversation: ConversationID, kind: TypingKind, for duration: Duration
    ) async throws

    /// Ends whatever servers have said of a user's typing.
    func stopTyping(_ user: UserID, in conversation: ConversationID) async throws

    /// Drops what an app's server has answered about this user, or about all: it is asked again, on all workers.
    func dropAccess(of user: UserID?, to conversation: ConversationID) async throws

    /// Returns what a user has decided that others see; `nil` if nothing.
    func person(of user: UserID) async throws -> Person?

    /// Changes that, and tells the workers that have devices of the user. The change counts on all workers within a second.
    ///
    /// - Returns: what counts now.
    /// - Throws: ``TooManyBlocked``; `UnexpectedJSON` for an end that is past or too far ahead; ``Unavailable``.
    func change(
        _ user: UserID, _ kind: PersonWrite.Kind, _ patch: PersonPatch, blocks: [UserID: Bool]
    ) async throws -> Person

    /// Reads how much of a user another one sees, as ``NodeAccess/presence(of:as:in:)``, and why.
    func sight(of user: UserID, as viewer: UserID, in conversation: ConversationID?) async throws -> Sight

    /// Reads whether the user is a member of the conversation, and what an app's server has answered.
    func access(of user: UserID, to conversation: ConversationID) async throws -> RoomSnapshot

    /// Whether conversations without members are open.
    var isOpenByDefault: Bool { get }

    /// The most bytes that a user may show where they are here.
    var hereData: Int { get }

    /// Shows a user as having a conversation open for this long, on behalf of an app's server, in place of what servers have
    /// said of the user there before. Members decide as for ``type(_:as:in:kind:for:)``.
    ///
    /// - Throws: ``RollcallCore/BackendRefusal``; ``Unavailable``.
    func enter(
        _ user: UserID, as profile: Profile, in conversation: ConversationID, data: HereData?, for duration: Duration
    ) async throws

    /// Ends what servers have said of a user's being there.
    func exit(_ user: UserID, in conversation: ConversationID) async throws

    /// Explains a user's presence.
    func explanation(of user: UserID) async throws -> Explanation

    /// Returns all workers, including dead ones that are not swept yet.
    func workers() async throws -> WorkersReport

    /// Returns the data of the live view.
    func live() async throws -> LiveReport

    /// Has each worker that has more sessions than the mean move the others to workers that have less.
    func rebalance() async throws -> Rebalance

    /// Ends the user's sessions on all workers, or those of one device; returns when they have ended.
    func sendAway(_ user: UserID, device: DeviceID?) async throws -> SentAway

    /// Revokes the tokens issued for the user until now, and ends the user's sessions. Returns when the next second has begun:
    /// a token that is issued after that is good.
    func revokeTokens(of user: UserID) async throws -> SentAway

    /// Revokes the user's tokens, ends their sessions, and erases their other data and their membership in these
    /// conversations.
    ///
    /// - Returns: `false` if a session did not end; the record then stays.
    /// - Throws: ``Unsettled`` if the worker cannot know all sessions.
    func erase(_ user: UserID, conversations: [ConversationID]) async throws -> Bool
}

/// What was asked for.
package struct Rebalance: Hashable, Sendable {
    /// How many sessions each worker is to have.
    package var mean: Int
    /// How many move.
    package var moving: Int
    /// How many workers take devices.
    package var workers: Int

    package init(mean: Int, moving: Int, workers: Int) {
        (self.mean, self.moving, self.workers) = (mean, moving, workers)
    }
}

/// This worker has just started, or Redis was away until recently: sessions may exist that no record names yet.
package struct Unsettled: Error, Hashable {
    /// When all workers will have reported their sessions.
    package var retryAfter: Duration
}

/// The result of ending sessions.
package struct SentAway: Hashable, Sendable, Codable {
    /// The devices whose session ended.
    package var sentAway: [DeviceID] = []
    /// Devices whose session did not end within 2 s, and devices of dead workers, which a sweep ends.
    package var unreached: [DeviceID] = []

    enum CodingKeys: String, CodingKey {
        case sentAway = "sent_away"
        case unreached
    }
}

// MARK: Requests

// Requests of operators to a node. Other workers receive them on their channels, and the user's record shows when they
// are done.

extension Node: OperatorAccess {
    /// How long a worker may take to end a session, and how often the record is checked.
    private static let patience = Duration.seconds(2)
    private static let look = Duration.milliseconds(50)

    package func explanation(of user: UserID) async throws -> Explanation {
        var report = try await report(on: user)
        let lists = try await workers().workers.map(\.incarnation)
        report.open = try await ask { $0.open(by: user, on: lists, reply: $1) }
        return try await first { [report] in $0.shard.explanation(of: report, at: $0.now) }
    }

    package func workers() async throws -> WorkersReport {
        try await ask { store, reply in store.workers(reply: reply) }
    }

    package func rebalance() async throws -> Rebalance {
        let report = try await workers()
        // Embedded nodes take no devices.
        let taking = report.workers.filter {
            !$0.standing(at: report.time).isDead && !$0.isDraining && $0.edge?.isEmpty == false
        }
        let counts = taking.map { Int(max(0, $0.sessions ?? 0)) }
        let mean = taking.isEmpty ? 0 : (counts.reduce(0, +) + taking.count - 1) / taking.count
        var moving = 0
        for (worker, count) in zip(taking, counts) where count > mean {
            moving += count - mean
            _ = try await ask { store, reply in
                store.announce(.rebalance(to: mean), to: worker.incarnation, reply: reply)
            }
        }
        return Rebalance(mean: mean, moving: moving, workers: taking.count)
    }

    package func sendAway(_ user: UserID, device: DeviceID?) async throws -> SentAway {
        let there = try await report(on: user).present.filter { device == nil || $0.device == device }
        let sessions = Set(there.map(\.record.session))
        let left = try await dismiss(sessions, of: user)
        return SentAway(
            sentAway: there.filter { !left.contains($0.record.session) }.map(\.device),
            unreached: there.filter { left.contains($0.record.session) }.map(\.device))
    }

    package func revokeTokens(of user: UserID) async throws -> SentAway {
        // Revoke first: every session is then either in the record that is read next, or connects later and is refused.
        let revoked: Timestamp = try await ask { store, reply in store.revokeTokens(of: user, reply: reply) }
        let stored = ContinuousClock.now
        let sentAway = try await sendAway(user, device: nil)
        // Tokens have whole seconds: one that is issued in the rest of this one would be refused as well.
        let rest = Duration.milliseconds(1000 - revoked.milliseconds % 1000)
        try await Task.sleep(for: max(.zero, rest - stored.duration(to: .now)))
        return sentAway
    }

    package func erase(_ user: UserID, conversations: [ConversationID]) async throws -> Bool {
        try await demandThatAllIsKnown()
        // Revokes again, to refuse a session that a worker restores after an outage and that no record names.
        let _: Timestamp = try await ask { store, reply in store.revokeTokens(of: user, reply: reply) }
        for conversation in conversations {
            try await removeMember(user, of: conversation)
            if settings.store.readsAccess { try await dropAccess(of: user, to: conversation) }
        }
        let deadline = ContinuousClock.now + Self.patience
        repeat {
            _ = try await sendAway(user, device: nil)
            let report = try await report(on: user)
            try await demandThatAllIsKnown()
            if try await ask({ store, reply in store.erase(report, reply: reply) }) {
                try await endWhatServersSay(of: user)
                return true
            }
        } while ContinuousClock.now < deadline
        return false
    }

    /// All workers end what they hold, and this one what is on their lists, also on those of workers that are cut off or dead.
    private func endWhatServersSay(of user: UserID) async throws {
        let lists = try await workers().workers.map(\.incarnation)
        for incarnation in lists {
            let _: Bool = try await ask { store, reply in store.announce(.erased(user), to: incarnation, reply: reply) }
        }
        let open: [DeviceID: [ConversationID]] = try await ask { $0.open(by: user, on: lists, reply: $1) }
        for (device, conversations) in open where device.isOfServer {
            for conversation in conversations { try await exit(user, in: conversation) }
        }
    }

    /// After an outage, which a worker that has just started may have missed, sessions may exist that no record names.
    /// Such a session would write again what is erased now.
    private func demandThatAllIsKnown() async throws {
        if let rest = try await first({ $0.shard.redis.judgement.rest(at: $0.now) }) {
            throw Unsettled(retryAfter: rest)
        }
    }

    private func report(on user: UserID) async throws -> UserReport {
        let own = try await first { $0.shard.redis.incarnation }
        return try await ask { store, reply in store.report(on: user, own: own, reply: reply) }
    }

    /// Tells the workers of these sessions to end them, until they have or the timeout passes. A worker with a new
    /// incarnation is told again.
    ///
    /// - Returns: The remaining sessions.
    private func dismiss(_ sessions: Set<SessionID>, of user: UserID) async throws -> Set<SessionID> {
        let deadline = ContinuousClock.now + Self.patience
        while true {
            let report = try await report(on: user)
            let left = report.present.filter { sessions.contains($0.record.session) }
            let standings = report.workers.standings
            let reachable = left.filter { standings[$0.record.incarnation]?.isDead == false }
            guard !reachable.isEmpty, ContinuousClock.now < deadline else {
                return Set(left.map(\.record.session))
            }
            for (device, record) in reachable { try await tell(user, device, record) }
            try await Task.sleep(for: Self.look)
        }
    }

    private func tell(_ user: UserID, _ device: DeviceID, _ record: DeviceRecord) async throws {
        let notice = WorkerNotice.sentAway(
            user: user, device: device, session: ByteString("\(record.began.milliseconds)-\(record.session)"))
        let _: Bool = try await ask { store, reply in
            store.announce(notice, to: record.incarnation, reply: reply)
        }
    }
}

// MARK: The live page

// The current state of this worker and of all workers, for the live view.

/// The data of the live view, except log events.
package struct LiveReport: Sendable {
    /// The worker's view of its connection to Redis.
    package struct Redis: Sendable {
        /// Whether Redis answers and returns the list of workers.
        package var isUp = false
        /// Over the commands of the last minute; `nil` if there were none.
        package var medianMicroseconds: Int64?
        package var slowMicroseconds: Int64?
    }

    package var own: Incarnation?
    package var isReady: Bool
    package var redis: Redis
    /// Empty while Redis is away; the time is then this worker's estimate.
    package var workers: WorkersReport
    /// The conversations with the most typing users, busiest first.
    package var conversations: [BusyConversation]
}

extension Node {
    /// How many of the busiest conversations are included.
    private static let busiest = 10

    /// Data of this worker is available while Redis is away too, because operators need it most then.
    package func live() async throws -> LiveReport {
        var redis = try await redis()
        let told = try await workersIfTold()
        redis.isUp = redis.isUp && told != nil
        let time = try await first { $0.shard.redis.time(at: $0.now) }
        let conversations = try await fromEachShard { $0.shard.busiest(Self.busiest, at: $0.now) }
        return LiveReport(
            own: incarnation, isReady: isReady, redis: redis,
            workers: told ?? WorkersReport(time: time, workers: []),
            conversations: BusyConversation.busiest(Self.busiest, of: conversations))
    }

    private func workersIfTold() async throws -> WorkersReport? {
        do {
            return try await workers()
        } catch is Unavailable {
            return nil
        }
    }

    /// Collects the counters of all event loops.
    func gatherFigures(on eventLoop: any EventLoop) -> EventLoopFuture<LoopFigures> {
        let asked = shards.withLockedValue { $0 }.map { shard in shard.eventLoop.submit { shard.value.figures } }
        return EventLoopFuture.reduce(LoopFigures(), asked, on: eventLoop, +)
    }

    private func redis() async throws -> LiveReport.Redis {
        guard let lease = lease.withLockedValue({ $0 }) else { return LiveReport.Redis() }
        return try await lease.eventLoop.submit { lease.value.redis }.get()
    }

    func fromEachShard<Value: Sendable>(
        _ read: @escaping @Sendable (ShardDriver) -> Value
    ) async throws -> [Value] {
        var values: [Value] = []
        for shard in shards.withLockedValue({ $0 }) {
            values.append(try await shard.eventLoop.submit { read(shard.value) }.get())
        }
        return values
    }
}

extension LeaseDriver {
    fileprivate var redis: LiveReport.Redis {
        LiveReport.Redis(
            isUp: isConnected, medianMicroseconds: pulse.roundTripMicroseconds(0.5),
            slowMicroseconds: pulse.roundTripMicroseconds(0.99))
    }
}
