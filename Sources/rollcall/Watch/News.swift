// What `rollcall watch` prints: each thing once, and again only when it looks different. If a user is watched directly
// and as a member of a conversation, the presence is printed once.

import RollcallClient

/// Something that is printed as one line.
enum News: Hashable, Sendable {
    case connection(ConnectionState)
    case typing(Typing)
    /// A member was added, removed or renamed, or the number of online members changed.
    case members(Members)
    /// - Parameter name: the name from a conversation's member list, if there is one.
    case presence(Presence, name: String?)
}

/// Finds the news in the values of a client's streams.
struct NewsDesk: Sendable {
    private var connection: ConnectionState?
    private var typing: [ConversationID: Typing] = [:]
    private var members: [ConversationID: Roll] = [:]
    private var looks: [UserID: Presence.Look] = [:]
    private var names: [UserID: String] = [:]

    /// What is printed about a member list, without the members' presence.
    private struct Roll: Hashable {
        let people: [Member]
        let count: GroupCount
        let refusal: RollcallError?

        init(_ members: Members) {
            people = members.people.map { Member(user: $0.user, name: $0.name) }
            count = members.groupCount
            refusal = members.refusal
        }
    }

    /// Returns the news in a connection state. Connection attempts and the length of pauses are not news.
    mutating func news(in state: ConnectionState) -> [News] {
        switch state {
        case .idle, .connecting, .closed: return []
        case .waiting(_, let reason):
            if case .waiting(_, reason) = connection { return [] }
        case .connected, .failed:
            if state == connection { return [] }
        }
        connection = state
        return [.connection(state)]
    }

    mutating func news(in typing: Typing) -> [News] {
        self.typing.updateValue(typing, forKey: typing.conversation) == typing ? [] : [.typing(typing)]
    }

    mutating func news(in members: Members) -> [News] {
        for member in members.people { names[member.user] = member.name }
        let roll = Roll(members)
        let known = self.members.updateValue(roll, forKey: members.conversation)
        let isNews = known != roll && (members.refusal != nil || members.count > 0 || (known?.count.total ?? 0) > 0)
        return (isNews ? [.members(members)] : []) + members.people.compactMap(\.presence).flatMap { news(in: $0) }
    }

    mutating func news(in presence: Presence) -> [News] {
        guard looks.updateValue(presence.look, forKey: presence.user) != presence.look else { return [] }
        return [.presence(presence, name: names[presence.user])]
    }
}

// MARK: For people

/// Texts about users, in one language. Identifiers stand beside names, since anyone can choose any name.
struct Wording: Sendable {
    let language: Language

    /// Returns the line for news; `nil` for news that is printed to standard error.
    ///
    /// - Parameter now: the worker's time.
    func line(for news: News, at now: Timestamp?) -> String? {
        switch news {
        case .connection: nil
        case .typing(let typing): line(of: typing.conversation, sentence(for: typing))
        case .members(let members): line(of: members.conversation, sentence(for: members))
        case .presence(let presence, let name):
            title(of: presence.user, name) + "  "
                + [PresenceDot(presence).label(in: language), lastSeen(presence, at: now)].filter { !$0.isEmpty }
                .joined(separator: " · ")
        }
    }

    private func line(of conversation: ConversationID, _ sentence: String) -> String {
        "\(Shown.text(conversation.text))  \(Shown.sentence(sentence))"
    }

    private func sentence(for members: Members) -> String {
        members.refusal.map { "members \(refusal($0))" } ?? members.groupCount.text(in: language)
    }

    private func sentence(for typing: Typing) -> String {
        if let error = typing.refusal { return refusal(error) }
        let text = TypingText(language: language).text(for: typing) { user in
            let name = typing.typists.first { $0.user == user }?.name
            return name.flatMap(Shown.name) ?? Shown.text(user.text)
        }
        return text.isEmpty ? "nobody is typing" : text
    }

    private func refusal(_ error: RollcallError) -> String { Shown.text("not shown: \(error.message)") }

    private func title(of user: UserID, _ name: String?) -> String {
        let identifier = Shown.name(user.text) ?? "?"
        guard let name = name.flatMap(Shown.name), name != identifier else { return identifier }
        return "\(name) (\(identifier))"
    }

    /// When an offline user was last seen. During the first minute this is in seconds, because an observer at a
    /// terminal wants to see recent changes, where an app's text would still be "Active now".
    private func lastSeen(_ presence: Presence, at now: Timestamp?) -> String {
        guard let now, presence.status == .offline, let lastSeen = presence.lastSeen else { return "" }
        let age = now.since(lastSeen)
        if age < .seconds(60) { return "\(max(0, age.components.seconds)) s" }
        return LastSeenText(language: language, style: .exact).text(for: presence, at: now)
    }
}

// MARK: For programs

/// An object with one key, which names the subject. `docs/terminal.md` defines the format. Keys may be added; none is
/// removed or changes its meaning.
extension News: Encodable {
    private enum Key: String, CodingKey {
        case connection, typing, members, presence
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        switch self {
        case .connection(let state): try object.encode(ConnectionRecord(state), forKey: .connection)
        case .typing(let typing): try object.encode(TypingRecord(typing), forKey: .typing)
        case .members(let members): try object.encode(MembersRecord(members), forKey: .members)
        case .presence(let presence, _): try object.encode(presence, forKey: .presence)
        }
    }
}

private struct ConnectionRecord: Encodable {
    var state: String
    var user: UserID?
    var device: DeviceID?
    var worker: String?
    var problem: Problem?

    init(_ state: ConnectionState) {
        switch state {
        case .idle: self.state = "idle"
        case .connecting: self.state = "connecting"
        case .connected(let session):
            self.state = "connected"
            (user, device, worker) = (session.user, session.device, session.worker)
        case .waiting(_, let reason):
            self.state = "waiting"
            problem = Problem(reason)
        case .failed(let error):
            self.state = "failed"
            problem = Problem(error)
        case .closed: self.state = "closed"
        }
    }
}

private struct TypingRecord: Encodable {
    let conversation: ConversationID
    let users: [Typist]
    let count: Int
    let problem: Problem?

    init(_ typing: Typing) {
        (conversation, users, count) = (typing.conversation, typing.typists, typing.count)
        problem = typing.refusal.map(Problem.init)
    }
}

private struct MembersRecord: Encodable {
    let conversation: ConversationID
    /// As in typing: the identifier, and the name if there is one.
    let users: [Typist]
    let count: Int
    let online: Int
    let problem: Problem?

    init(_ members: Members) {
        (conversation, count, online) = (members.conversation, members.count, members.groupCount.online)
        users = members.people.map { Typist(user: $0.user, name: $0.name) }
        problem = members.refusal.map(Problem.init)
    }
}

/// A ``RollcallError``, whose codes are stable.
private struct Problem: Encodable {
    let code: String
    let message: String

    init(_ error: RollcallError) {
        (code, message) = (error.code.rawValue, error.message)
    }
}
