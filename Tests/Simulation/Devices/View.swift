// What one connection was sent, which is all that its observer can display.

internal import RollcallCore
internal import RollcallProtocol

/// An observer's view of the world.
struct View {
    /// A watched user.
    struct Watched {
        let since: Instant
        /// `nil` before the first update.
        var shown: Presence?
        var firstShown: Instant?
        var lastShown: Instant?
        /// Whether the user may be shown, and since when that is so.
        var maySee = true
        var decided: Instant
    }

    /// A joined conversation.
    struct Joined {
        let since: Instant
        /// `nil` before the first update.
        var typists: [UserID]?
        var firstShown: Instant?
        /// The number of typing users beyond those that are named.
        var unnamed = 0
        /// Who is here; `nil` before the first update.
        var here: ServerMessage.Here?
        /// Whom it shares with this connection: its members, as they were last sent.
        var shared: Set<UserID> = []
        var withPresence = false
    }

    /// A request without an answer so far.
    struct Asked {
        let message: ClientMessage
        /// When the worker processed it; `nil` while it waits.
        var taken: Instant?
        /// Subscriptions that only this request asks for: if it is refused, they do not exist.
        var watched: [UserID] = []
        var joined: ConversationID?
    }

    private(set) var watched: [UserID: Watched] = [:]
    private(set) var joined: [ConversationID: Joined] = [:]
    private(set) var asked: [MessageID: Asked] = [:]
    /// An answer to no request, or a second answer.
    private(set) var strayAnswer: MessageID?

    /// Records a request of the device, which must get exactly one answer.
    mutating func asked(_ request: ClientRequest, at now: Instant) {
        if let id = request.id { asked[id] = Asked(message: request.message) }
    }

    /// Records that the worker processed a request: from now on, the device expects the updates that it subscribed to.
    mutating func taken(_ request: ClientRequest, at now: Instant) {
        var asked = Asked(message: request.message, taken: now)
        switch request.message {
        case .watch(let users):
            for user in users where watched[user] == nil {
                watched[user] = Watched(since: now, decided: now)
                asked.watched.append(user)
            }
        case .unwatch(let users):
            for user in users { watched[user] = nil }
        case .join(let conversation, let presence, _):
            if !presence { joined[conversation]?.shared = [] }
            if joined[conversation] == nil {
                joined[conversation] = Joined(since: now)
                asked.joined = conversation
            }
            joined[conversation]?.withPresence = presence
        case .leave(let conversation):
            joined[conversation] = nil
        case .hello, .token, .state, .get, .enter, .exit, .typing, .person, .ping, .goodbye: break
        }
        if let id = request.id, self.asked[id] != nil { self.asked[id] = asked }
    }

    /// - Parameter most: the longest member list that shares its members.
    mutating func told(_ message: ServerMessage, sharing most: Int, at now: Instant) {
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
        case .here(let here): joined[here.conversation]?.here = here
        case .members(let members):
            joined[members.conversation]?.shared = members.count <= most ? Set(members.users.map(\.user)) : []
        case .welcome, .person, .pong, .goodbye: break
        }
    }

    /// Decides whom the connection of this user may be shown: itself, whom its token names, and with whom it shares a conversation.
    mutating func judge(for user: UserID, _ right: WatchRight, at now: Instant) {
        for (other, was) in watched {
            let maySee = other == user || right.covers(other) || joined.values.contains { $0.shared.contains(other) }
            guard maySee != was.maySee else { continue }
            watched[other]?.maySee = maySee
            watched[other]?.decided = now
        }
    }

    /// Whether a user may be shown who is not watched.
    func shares(_ user: UserID) -> Bool { joined.values.contains { $0.shared.contains(user) } }

    private mutating func answered(_ id: MessageID) -> Asked? {
        let asked = asked.removeValue(forKey: id)
        if asked == nil { strayAnswer = id }
        return asked
    }

    private mutating func refused(_ asked: Asked, _ code: MessageError.Code) {
        for user in asked.watched where watched[user]?.since == asked.taken { watched[user] = nil }
        if let conversation = asked.joined, joined[conversation]?.since == asked.taken { joined[conversation] = nil }
        if case .join(let conversation, _, _) = asked.message, code == .notAMember { joined[conversation] = nil }
    }

    private mutating func shown(_ presence: Presence, at now: Instant) {
        guard var seen = watched[presence.user] else { return }
        seen.shown = presence
        seen.firstShown = seen.firstShown ?? now
        seen.lastShown = now
        watched[presence.user] = seen
    }
}
