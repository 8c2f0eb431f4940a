// Who is here, and users who are here on behalf of an app's server: agents and bridges, without a session. The first shard holds
// what servers say.

internal import NIOConcurrencyHelpers
internal import NIOCore
internal import RollcallCore
package import RollcallProtocol
internal import RollcallRedis

extension Node {
    package func here(in conversation: ConversationID) async throws -> ServerMessage.Here {
        let snapshot = try await ask { store, reply in
            store.room(
                conversation, users: [], withTyping: false, mostMembers: 0, mostHere: Self.mostHere, reply: reply)
        }
        let here = try await first { driver in
            var here = snapshot.here ?? HereSnapshot([], count: 0, in: conversation)
            driver.shard.after { here = $0.judged(here, at: snapshot.time, now: $1) }
            return here
        }
        return ServerMessage.Here(conversation: conversation, users: here.users, count: here.count)
    }

    /// How many are named to a server.
    ///
    /// Limit: users in an answer of `GET /v1/conversations/{conversation}/here`.
    private static let mostHere = 1000

    /// The most bytes that a user may show.
    package var hereData: Int { settings.shard.limits.hereData }

    package func enter(
        _ user: UserID, as profile: Profile, in conversation: ConversationID, data: HereData?, for duration: Duration
    ) async throws {
        let content = HereWrite.Content(name: profile.name, data: data)
        try await backend { $0.enter(user, in: conversation, content, for: duration, at: $1, reply: $2) }
    }

    package func exit(_ user: UserID, in conversation: ConversationID) async throws {
        try await backend { $0.exit(user, in: conversation, at: $1, reply: $2) }
    }

    /// How long an app's server waits for an answer.
    private static let patience = TimeAmount.seconds(5)

    /// Has the first shard do what an app's server asks for.
    ///
    /// - Throws: ``RollcallCore/BackendRefusal``; ``Unavailable``.
    private func backend(_ ask: @escaping @Sendable (Shard, Instant, @escaping BackendReply) -> Void) async throws {
        let shard = shards.withLockedValue { $0[0] }
        let answer: EventLoopFuture<Result<Void, BackendRefusal>> = shard.eventLoop.flatSubmit {
            let promise = shard.eventLoop.makePromise(of: Result<Void, BackendRefusal>.self)
            // Once the worker stops, replies no longer come.
            let late = shard.eventLoop.scheduleTask(in: Self.patience) { promise.succeed(.failure(.unavailable)) }
            promise.futureResult.whenComplete { _ in late.cancel() }
            shard.value.shard.after { ask($0, $1) { promise.succeed($0) } }
            return promise.futureResult
        }
        do {
            try await answer.get().get()
        } catch BackendRefusal.unavailable {
            throw unavailable
        }
    }
}
