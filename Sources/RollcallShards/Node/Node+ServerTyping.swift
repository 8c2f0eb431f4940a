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

/// What a server has said of a user's typing, until it ends or the server says something else.
struct ServerTyping: Hashable, Sendable {
    /// The most that one worker renews.
    static let most = 10_000

    struct Place: Hashable, Sendable {
        let user: UserID
        let conversation: ConversationID
    }

    /// Differs from one request to the next.
    let device: DeviceID
    let kind: TypingKind
    let end: ContinuousClock.Instant
}

extension Node {
    /// Shows a user as typing for this long, in place of what a server has said of the user there before.
    ///
    /// - Throws: ``ServerTypingRefusal``; ``Unavailable``.
    package func type(
        _ user: UserID, in conversation: ConversationID, kind: TypingKind, for duration: Duration
    ) async throws {
        let place = ServerTyping.Place(user: user, conversation: conversation)
        let typing = ServerTyping(
            device: .ofServer(mark: .random(in: 0...(.max))), kind: kind, end: .now + duration)
        try serverTypings.withLockedValue { typings in
            guard typings[place] != nil || typings.count < ServerTyping.most else { throw ServerTypingRefusal.tooMany }
            typings[place] = typing
        }
        do {
            guard try await say(typing, at: place, .begin) != .notAMember else { throw ServerTypingRefusal.notAMember }
        } catch {
            forget(typing, at: place)
            throw error
        }
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
        serverTypings.withLockedValue { $0[place] = nil }
        _ = try await say(ServerTyping(device: .ofServer(mark: 0), kind: .typing, end: .now), at: place, .end)
    }

    private func say(
        _ typing: ServerTyping, at place: ServerTyping.Place, _ step: ServerTypingStep
    ) async throws -> TypingOutcome {
        let rest = min(settings.store.typingExpiry, typing.end - .now)
        let signal = TypingSignal(
            user: place.user, device: typing.device, conversation: place.conversation,
            expiry: try await redisTime().advanced(by: rest), kind: typing.kind)
        return try await ask { store, reply in store.serverTypes(signal, step, reply: reply) }
    }
}
