// Users who type on behalf of an app's server: bots, agents and gateways, without a session. This worker renews them for
// as long as the server said, unless another worker was told something else since.

internal import NIOConcurrencyHelpers
package import RollcallModel
internal import RollcallRedis

/// Why a user does not type on behalf of a server.
package enum ServerTypingRefusal: Error, Hashable, Sendable {
    /// The conversation has members, and the user is none.
    case notAMember
    /// This worker has as many of them as it can renew.
    case tooMany
}

/// Those that a worker renews.
struct ServerTypings: Sendable {
    static let most = 10_000
    /// How often they are looked at.
    static let look = Duration.milliseconds(250)

    struct Place: Hashable, Sendable {
        let user: UserID
        let conversation: ConversationID
    }

    struct Entry: Hashable, Sendable {
        let device: DeviceID
        let kind: TypingKind
        let end: ContinuousClock.Instant
        var renewal: ContinuousClock.Instant
    }

    private(set) var entries: [Place: Entry] = [:]
    /// Whether a task looks at them.
    var isFollowed = false

    mutating func insert(_ entry: Entry, at place: Place) throws(ServerTypingRefusal) {
        guard entries[place] != nil || entries.count < Self.most else { throw .tooMany }
        entries[place] = entry
    }

    /// - Parameter entry: only if it is still this one.
    mutating func remove(at place: Place, _ entry: Entry? = nil) {
        if entry == nil || entries[place]?.device == entry?.device { entries[place] = nil }
    }

    /// Returns those to renew now, and drops those that are over: they end by themselves.
    mutating func takeDue(at now: ContinuousClock.Instant, next: ContinuousClock.Instant) -> [Place: Entry] {
        entries = entries.filter { $0.value.end > now }
        let due = entries.filter { $0.value.renewal <= now }
        for place in due.keys { entries[place]?.renewal = next }
        return due
    }
}

extension Node {
    /// Shows a user as typing for this long, in place of what a server has said of the user there before.
    ///
    /// - Throws: ``ServerTypingRefusal``; ``Unavailable``.
    package func type(
        _ user: UserID, in conversation: ConversationID, kind: TypingKind, for duration: Duration
    ) async throws {
        let place = ServerTypings.Place(user: user, conversation: conversation)
        let now = ContinuousClock.now
        let entry = ServerTypings.Entry(
            device: .ofServer(mark: .random(in: 0...(.max))), kind: kind, end: now + duration,
            renewal: now + renewalPause)
        try serverTypings.withLockedValue { try $0.insert(entry, at: place) }
        do {
            guard try await say(entry, at: place, .begin) != .notAMember else { throw ServerTypingRefusal.notAMember }
        } catch {
            serverTypings.withLockedValue { $0.remove(at: place, entry) }
            throw error
        }
        follow()
    }

    /// Ends whatever servers have said of a user's typing.
    ///
    /// - Throws: ``Unavailable``.
    package func stopTyping(_ user: UserID, in conversation: ConversationID) async throws {
        let place = ServerTypings.Place(user: user, conversation: conversation)
        serverTypings.withLockedValue { $0.remove(at: place) }
        let now = ContinuousClock.now
        let nothing = ServerTypings.Entry(device: .ofServer(mark: 0), kind: .typing, end: now, renewal: now)
        _ = try await say(nothing, at: place, .end)
    }

    private var renewalPause: Duration { settings.store.typingExpiry / 2 }

    private func say(
        _ entry: ServerTypings.Entry, at place: ServerTypings.Place, _ step: ServerTypingStep
    ) async throws -> TypingOutcome {
        let rest = min(settings.store.typingExpiry, entry.end - .now)
        let signal = TypingSignal(
            user: place.user, device: entry.device, conversation: place.conversation,
            expiry: try await redisTime().advanced(by: rest), kind: entry.kind)
        return try await ask { store, reply in store.serverTypes(signal, step, reply: reply) }
    }

    /// Renews what is due, as long as there is something.
    private func follow() {
        let isFirst = serverTypings.withLockedValue { typings in
            defer { typings.isFollowed = true }
            return !typings.isFollowed
        }
        guard isFirst else { return }
        Task { [weak self] in
            while await self?.renewDue() == true { try? await Task.sleep(for: ServerTypings.look) }
        }
    }

    /// - Returns: whether to look again.
    private func renewDue() async -> Bool {
        let now = ContinuousClock.now
        let due: [ServerTypings.Place: ServerTypings.Entry]? = serverTypings.withLockedValue { typings in
            let due = typings.takeDue(at: now, next: now + renewalPause)
            typings.isFollowed = !typings.entries.isEmpty
            return typings.isFollowed ? due : nil
        }
        guard let due else { return false }
        await withTaskGroup(of: Void.self) { group in
            for (place, entry) in due {
                group.addTask { [self] in
                    guard let outcome = try? await say(entry, at: place, .renew), outcome != .typing else { return }
                    serverTypings.withLockedValue { $0.remove(at: place, entry) }
                }
            }
        }
        return true
    }
}
