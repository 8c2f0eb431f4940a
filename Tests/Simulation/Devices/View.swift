// What one connection has been told, which is all that its observer can show.

internal import RollcallCore
internal import RollcallModel

/// An observer's view of the world.
struct View {
    /// A user whom it watches.
    struct Watched {
        let since: Instant
        /// `nil` before the first word.
        var shown: Presence?
        var firstShown: Instant?
        var lastShown: Instant?
    }

    /// A conversation that it has joined.
    struct Joined {
        let since: Instant
        /// `nil` before the first word.
        var typists: [UserID]?
    }

    private(set) var watched: [UserID: Watched] = [:]
    private(set) var joined: [ConversationID: Joined] = [:]

    /// What the device asks for is what it expects to be told of.
    mutating func received(_ message: ClientMessage, at now: Instant) {
        switch message {
        case .watch(let users):
            for user in users where watched[user] == nil { watched[user] = Watched(since: now) }
        case .unwatch(let users):
            for user in users { watched[user] = nil }
        case .join(let conversation, _):
            if joined[conversation] == nil { joined[conversation] = Joined(since: now) }
        case .leave(let conversation):
            joined[conversation] = nil
        case .hello, .token, .state, .get, .typing, .ping, .goodbye: break
        }
    }

    mutating func told(_ message: ServerMessage, at now: Instant) {
        switch message {
        case .presence(let presences, nil):
            for presence in presences { shown(presence, at: now) }
        case .typing(let typing):
            joined[typing.conversation]?.typists = typing.users.map(\.user)
        case .removed(let conversation):
            joined[conversation] = nil
        case .error(let error) where error.code == .notAMember:
            if case .text(let text)? = error.id, let conversation = try? ConversationID(text) {
                joined[conversation] = nil
            }
        case .welcome, .presence, .members, .pong, .ack, .error, .goodbye: break
        }
    }

    private mutating func shown(_ presence: Presence, at now: Instant) {
        guard var seen = watched[presence.user] else { return }
        seen.shown = presence
        seen.firstShown = seen.firstShown ?? now
        seen.lastShown = now
        watched[presence.user] = seen
    }
}
