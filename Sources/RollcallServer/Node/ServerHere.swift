// Users who are here on behalf of an app's server: agents and bridges, without a session. The worker that was told holds the
// entry for as long as the server said; if it dies, a sweep ends it, as with a session's.

internal import NIOConcurrencyHelpers
internal import NIOCore
internal import RollcallCore
package import RollcallProtocol
internal import RollcallRedis

/// What a server has said of a user's being somewhere, until it ends or the server says something else.
struct ServerHere: Hashable, Sendable {
    /// The most that one worker holds.
    ///
    /// Limit: users that a worker shows as being here for servers. More get 429.
    static let most = 10_000

    let content: HereWrite.Content
    /// When it was said, by Redis's clock: of what several workers were told, the latest counts.
    let sequence: Int64
    let end: ContinuousClock.Instant
}

extension EntryName {
    /// All that servers say of a user in a conversation is one entry, whichever worker was told.
    fileprivate static func ofServer(_ user: UserID, in conversation: ConversationID) -> EntryName {
        let session = SessionName(user: user, device: .ofServer(mark: 0), session: SessionID(random: "http"))
        return EntryName(session: session, conversation: conversation)
    }
}

extension Node {
    package func here(in conversation: ConversationID) async throws -> ServerMessage.Here {
        let snapshot = try await ask { store, reply in
            store.room(
                conversation, users: [], withTyping: false, mostMembers: 0, mostHere: Self.mostHere, reply: reply)
        }
        let here = snapshot.here ?? HereSnapshot(users: [], count: 0)
        try await first { driver in driver.shard.after { shard, now in shard.metDead(in: here, at: now) } }
        return ServerMessage.Here(conversation: conversation, users: here.users, count: here.count)
    }

    /// How many are named to a server.
    ///
    /// Limit: users in an answer of `GET /v1/conversations/{conversation}/here`.
    private static let mostHere = 1000

    /// The most bytes that a user may show.
    package var hereData: Int { settings.shard.limits.hereData }

    /// Shows a user as being here for this long, in place of what servers have said of the user there before.
    ///
    /// - Throws: ``ServerRefusal``; ``Unavailable``.
    package func enter(
        _ user: UserID, as profile: Profile, in conversation: ConversationID, data: HereData?, for duration: Duration
    ) async throws {
        let entry = EntryName.ofServer(user, in: conversation)
        let here = ServerHere(
            content: .init(name: profile.name, data: data), sequence: try await redisTime().milliseconds,
            end: .now + duration)
        try serverEntries.withLockedValue { entries in
            guard entries[entry] != nil || entries.count < ServerHere.most else { throw ServerRefusal.tooMany }
            entries[entry] = here
        }
        let incarnation: Incarnation
        do {
            incarnation = try await write(here, at: entry)
        } catch {
            forget(here, at: entry)
            throw error
        }
        Task { [weak self, pause = settings.heartbeat] in
            var (incarnation, end) = (incarnation, ContinuousClock.now)
            repeat {
                end = min(.now + pause, here.end)
                try? await Task.sleep(until: end)
                // Under a new one it is written again, as what sessions have entered.
                if let next = try? await self?.keep(here, at: entry, under: incarnation) { incarnation = next }
            } while end < here.end && self?.isHeld(here, at: entry) == true
            await self?.ended(here, at: entry)
        }
    }

    /// Ends what servers have said.
    ///
    /// - Throws: ``Unavailable``.
    package func exit(_ user: UserID, in conversation: ConversationID) async throws {
        let entry = EntryName.ofServer(user, in: conversation)
        serverEntries.withLockedValue { $0[entry] = nil }
        try await end(entry, at: try await redisTime().milliseconds)
    }

    private func isHeld(_ here: ServerHere, at entry: EntryName) -> Bool {
        serverEntries.withLockedValue { $0[entry] } == here
    }

    private func forget(_ here: ServerHere, at entry: EntryName) {
        serverEntries.withLockedValue { if $0[entry] == here { $0[entry] = nil } }
    }

    /// - Returns: the incarnation under which it stands now.
    private func keep(
        _ here: ServerHere, at entry: EntryName, under incarnation: Incarnation
    ) async throws -> Incarnation {
        guard isHeld(here, at: entry), .now < here.end,
            let now = try await first({ $0.shard.redis.incarnation }), now != incarnation
        else { return incarnation }
        return try await write(here, at: entry)
    }

    /// Lists the entry, and then writes it.
    private func write(_ here: ServerHere, at entry: EntryName) async throws -> Incarnation {
        let (own, until) = try await first { ($0.shard.redis.incarnation, $0.shard.redis.until) }
        guard let own else { throw Unavailable(refusesWrites: refusesWrites) }
        guard try await ask({ $0.record(entry, of: own, until: until, reply: $1) }) else { throw Unavailable() }
        let write = HereWrite(
            entry: entry, content: here.content, incarnation: own, sequence: here.sequence, until: until)
        switch try await ask({ $0.write(write, reply: $1) }).outcome {
        case .notAMember: throw ServerRefusal.notAMember
        case .expired: throw Unavailable()
        case .here, .late, .gone: return own
        }
    }

    /// Its time is over, or another worker was told something else, which then stays.
    private func ended(_ here: ServerHere, at entry: EntryName) async {
        guard isHeld(here, at: entry) else { return }
        forget(here, at: entry)
        try? await end(entry, at: here.sequence)
    }

    private func end(_ entry: EntryName, at sequence: Int64) async throws {
        let (own, until) = try await first { ($0.shard.redis.incarnation, $0.shard.redis.until) }
        guard let own else { throw Unavailable(refusesWrites: refusesWrites) }
        let write = HereWrite(entry: entry, content: nil, incarnation: own, sequence: sequence, until: until)
        guard try await ask({ $0.write(write, reply: $1) }).outcome != .expired else { throw Unavailable() }
        Task { [weak self, lease = settings.lease] in
            try? await Task.sleep(for: lease)
            guard let self, serverEntries.withLockedValue({ $0[entry] }) == nil else { return }
            try? await ask { $0.unrecord([.entry(entry)], of: own, reply: $1) }
        }
    }
}
