// What a client shows: streams of current state, and presence read once. All may be used on any thread or actor.

import NIOConcurrencyHelpers

extension RollcallClient {
    /// Who is typing in a conversation: the current state, then every change. The conversation stays joined while the
    /// stream is iterated.
    ///
    /// Emits nothing before the worker's first answer. If the worker refuses, ``Typing/refusal`` says why.
    public func typing(in conversation: ConversationID) -> Updates<Typing> {
        Updates(client: self) { $0.observeConversation(conversation, $1, $2) }
    }

    /// The members of a conversation with their names and presence: the current state, then every change. The
    /// conversation stays joined while the stream is iterated.
    ///
    /// The first value comes once the presence of all members is known, but at most one second after their names. If
    /// the worker refuses, ``Members/refusal`` says why.
    public func members(of conversation: ConversationID) -> Updates<Members> {
        Updates(client: self) { $0.observeMembers(of: conversation, $1, $2) }
    }

    /// A user's presence: the current state, then every change. Emits nothing while the presence is unknown. While the
    /// client is disconnected, the last known presence stays.
    public func presence(of user: UserID) -> Updates<Presence> {
        Updates(client: self) { $0.observeUser(user, $1, $2) }
    }

    /// The presence of several users as one value. Users whose presence is not known yet are absent from it.
    public func presence(of users: some Sequence<UserID>) -> Updates<[UserID: Presence]> {
        let users = Array(Set(users))
        return Updates(client: self) { $0.observeUsers(users, $1, $2) }
    }

    /// The state of the connection: the current state, then every change. A slow reader misses intermediate states.
    public var connection: Updates<ConnectionState> {
        Updates(client: self) { $0.observeConnection($1, $2) }
    }

    /// Errors that did not end the connection, for logs. Emits errors that occur while the stream is iterated; a slow
    /// reader gets only the latest.
    public var problems: Updates<RollcallError> {
        Updates(client: self) { $0.observeProblems($1, $2) }
    }

    /// The current state of the connection.
    public var connectionState: ConnectionState {
        engine.shared.withLockedValue { $0.state }
    }

    /// The current time on the worker's clock; `nil` before the first connection. "Last seen" texts use it, so a wrong
    /// clock on this device does not matter. If the worker's clock is set, this follows within a minute while presence
    /// is observed in the foreground, and otherwise after the next reconnect.
    public var serverTime: Timestamp? {
        engine.shared.withLockedValue { $0.clock.time(at: engine.clock.now) }
    }

    /// Returns a user's current presence; `nil` if there was no answer within `limit`, for example because the client
    /// is disconnected. Returns early if the task is cancelled or the client is closed.
    public nonisolated(nonsending) func currentPresence(of user: UserID, within limit: Duration = .seconds(5)) async
        -> Presence?
    {
        await currentPresence(of: CollectionOfOne(user), within: limit)[user]
    }

    /// Returns the current presence of several users. Users without an answer within `limit` are absent.
    /// Returns what is known so far if the task is cancelled or the client is closed.
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
                // If the task was cancelled before the call was registered, `onCancel` ended nothing. So end it now.
                if Task.isCancelled { engine.run { $0.endFetch(id) } }
            }
        } onCancel: {
            engine.run { $0.endFetch(id) }
        }
    }
}
