// What a client shows: streams of the present state, and presence once.

import NIOConcurrencyHelpers

extension RollcallClient {
    /// Who types in a conversation: the worker's snapshot, then every change. While somebody observes it, the
    /// conversation is joined.
    public func typing(in conversation: ConversationID) -> Updates<Typing> {
        Updates(client: self) { $0.observeConversation(conversation, $1, $2) }
    }

    /// Who belongs to a conversation, and who of them is here: the worker's list and everybody's presence, then every
    /// change. While somebody observes it, the conversation is joined.
    public func members(of conversation: ConversationID) -> Updates<Members> {
        Updates(client: self) { $0.observeMembers(of: conversation, $1, $2) }
    }

    /// A user's presence: the worker's snapshot, then every change. Until the snapshot nothing comes: the presence is
    /// unknown. While there is no connection, the last one stands.
    public func presence(of user: UserID) -> Updates<Presence> {
        Updates(client: self) { $0.observeUser(user, $1, $2) }
    }

    /// The presence of several users as one value, in which those still unknown are absent.
    public func presence(of users: some Sequence<UserID>) -> Updates<[UserID: Presence]> {
        let users = Array(Set(users))
        return Updates(client: self) { $0.observeUsers(users, $1, $2) }
    }

    /// How the client stands with its worker: the present state, then every change.
    public var connection: Updates<ConnectionState> {
        Updates(client: self) { $0.observeConnection($1, $2) }
    }

    /// Mistakes that did not end the connection, as they are found: for a log.
    public var problems: Updates<RollcallError> {
        Updates(client: self) { $0.observeProblems($1, $2) }
    }

    /// How the client stands with its worker now.
    public var connectionState: ConnectionState {
        engine.shared.withLockedValue { $0.state }
    }

    /// The worker's time now; `nil` before the first welcome. "Last seen" is told in it, so that a wrong clock on
    /// this device changes nothing. Where the worker's clock is set, this follows within a minute while presence is
    /// observed in the foreground, and after the next reconnect otherwise.
    public var serverTime: Timestamp? {
        engine.shared.withLockedValue { $0.clock.time(at: engine.clock.now) }
    }

    /// A user's presence, once; `nil` if no answer came within `limit`, which is weather.
    public nonisolated(nonsending) func currentPresence(of user: UserID, within limit: Duration = .seconds(5)) async
        -> Presence?
    {
        await currentPresence(of: CollectionOfOne(user), within: limit)[user]
    }

    /// The presence of many users, once. Those of whom no answer came within `limit` are absent.
    public nonisolated(nonsending) func currentPresence(
        of users: some Sequence<UserID>, within limit: Duration = .seconds(5)
    ) async -> [UserID: Presence] {
        if Task.isCancelled { return [:] }
        let users = Array(users)
        let id = FetchID()
        let engine = self.engine
        return await withTaskCancellationHandler {
            await withCheckedContinuation { answer in
                engine.run { $0.fetch(users, id: id, within: limit) { answer.resume(returning: $0) } }
            }
        } onCancel: {
            engine.run { $0.endFetch(id) }
        }
    }
}
