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
        var firstShown: Instant?
        /// How many type who are not named.
        var unnamed = 0
    }

    /// A message that waits for its answer.
    struct Asked {
        let message: ClientMessage
        /// When it was taken; `nil` while it waits.
        var taken: Instant?
        /// What it alone asks for: if it is refused, that is not followed.
        var watched: [UserID] = []
        var joined: ConversationID?
    }

    private(set) var watched: [UserID: Watched] = [:]
    private(set) var joined: [ConversationID: Joined] = [:]
    private(set) var asked: [MessageID: Asked] = [:]
    /// An answer to nothing that was asked, or a second one.
    private(set) var strayAnswer: MessageID?

    /// The device has said something, to which it expects one answer.
    mutating func asked(_ request: ClientRequest, at now: Instant) {
        if let id = request.id { asked[id] = Asked(message: request.message) }
    }

    /// What the device asks for is what it expects to be told of, from when that is taken.
    mutating func taken(_ request: ClientRequest, at now: Instant) {
        var asked = Asked(message: request.message, taken: now)
        switch request.message {
        case .watch(let users):
            for user in users where watched[user] == nil {
                watched[user] = Watched(since: now)
                asked.watched.append(user)
            }
        case .unwatch(let users):
            for user in users { watched[user] = nil }
        case .join(let conversation, _):
            if joined[conversation] == nil {
                joined[conversation] = Joined(since: now)
                asked.joined = conversation
            }
        case .leave(let conversation):
            joined[conversation] = nil
        case .hello, .token, .state, .get, .typing, .ping, .goodbye: break
        }
        if let id = request.id, self.asked[id] != nil { self.asked[id] = asked }
    }

    mutating func told(_ message: ServerMessage, at now: Instant) {
        switch message {
        case .presence(let presences, nil):
            for presence in presences { shown(presence, at: now) }
        case .presence(_, let id?), .ack(let id): _ = answered(id)
        case .typing(let typing):
            if joined[typing.conversation]?.typists == nil { joined[typing.conversation]?.firstShown = now }
            joined[typing.conversation]?.typists = typing.users.map(\.user)
            joined[typing.conversation]?.unnamed = typing.count - typing.users.count
        case .removed(let conversation):
            joined[conversation] = nil
        case .error(let error):
            if let asked = error.id.flatMap({ answered($0) }) { refused(asked, error.code) }
        case .welcome, .members, .pong, .goodbye: break
        }
    }

    private mutating func answered(_ id: MessageID) -> Asked? {
        let asked = asked.removeValue(forKey: id)
        if asked == nil { strayAnswer = id }
        return asked
    }

    private mutating func refused(_ asked: Asked, _ code: MessageError.Code) {
        for user in asked.watched where watched[user]?.since == asked.taken { watched[user] = nil }
        if let conversation = asked.joined, joined[conversation]?.since == asked.taken { joined[conversation] = nil }
        if case .join(let conversation, _) = asked.message, code == .notAMember { joined[conversation] = nil }
    }

    private mutating func shown(_ presence: Presence, at now: Instant) {
        guard var seen = watched[presence.user] else { return }
        seen.shown = presence
        seen.firstShown = seen.firstShown ?? now
        seen.lastShown = now
        watched[presence.user] = seen
    }
}
