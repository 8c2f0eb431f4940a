// `rollcall watch`: prints each thing once, and again only when it looks different. If a user is watched directly and as a
// member of a conversation, the presence is printed once.

import ArgumentParser
import Foundation
import RollcallClient

/// `rollcall watch`: shows live who is typing in conversations, and who is online.
struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Watch conversations and users, live.",
        discussion: """
            Prints who types in each conversation and, if it has members, their presence: the current state first, \
            then every change, one per line, until Ctrl-C. To other users, the watching device is offline.
            """)

    @Argument(help: "Users whose presence to watch.")
    var users: [UserID] = []

    @Option(name: .shortAndLong, help: "A conversation to watch. May be repeated.")
    var conversation: [ConversationID] = []

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "The language of texts about users, such as de or pt-BR; by default the environment's (LC_ALL, LANG).",
            valueName: "language"),
        transform: Self.language)
    var language: Language?

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    func validate() throws {
        if users.isEmpty, conversation.isEmpty { throw ValidationError("name users, or conversations with -c") }
    }

    func run() async throws {
        // JSON has lines about the connection too.
        try await connection.withClient(.background, note: { [json] in if !json { Output.log($0) } }) { client in
            try await NewsPrinter(client, in: language ?? .current, asJSON: json)
                .follow(conversations: conversation, users: users)
        }
    }

    /// Returns the language with this name: `de`, `de-AT` or `de_AT.UTF-8`.
    static func language(named name: String) throws -> Language {
        let best = Language.best(for: [name])
        let asked = name.prefix { $0 != "-" && $0 != "_" && $0 != "." }.lowercased()
        // English is also the result if there is no match.
        guard best.id != Language.english.id || asked == Language.english.id else {
            let known = Language.all.map { "\($0.id) (\($0.name))" }.joined(separator: ", ")
            throw ValidationError("there is no language \"\(Shown.text(name))\"; there are \(known)")
        }
        return best
    }
}

/// Prints what happens, one line each, as text or as JSON.
actor NewsPrinter {
    private let client: RollcallClient
    private let wording: Wording
    private let asJSON: Bool
    private var desk = NewsDesk()

    init(_ client: RollcallClient, in language: Language, asJSON: Bool) {
        self.client = client
        self.asJSON = asJSON
        wording = Wording(language: language)
    }

    /// Prints until the task is cancelled. While the output is busy, the client's streams skip outdated values.
    func follow(conversations: [ConversationID], users: [UserID]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { [client] group in
            group.addTask { for await state in client.connection { try await self.print { $0.news(in: state) } } }
            for conversation in conversations {
                group.addTask {
                    for await typing in client.typing(in: conversation) { try await self.print { $0.news(in: typing) } }
                }
                group.addTask {
                    for await all in client.members(of: conversation) { try await self.print { $0.news(in: all) } }
                }
            }
            for user in users {
                group.addTask {
                    for await presence in client.presence(of: user) { try await self.print { $0.news(in: presence) } }
                }
            }
            // The first that ends with an error, such as a closed pipe, ends all.
            for try await _ in group {}
        }
    }

    private func print(_ news: @Sendable (inout NewsDesk) -> [News]) throws {
        for news in news(&desk) {
            if asJSON {
                try Output.json(news)
            } else if let line = wording.line(for: news, at: client.serverTime) {
                try Output.line(line)
            }
        }
    }
}

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
    /// How each thing looked when it was last printed.
    private var looks: [Subject: Look] = [:]
    private var names: [UserID: String] = [:]

    private enum Subject: Hashable {
        case connection
        case typing(ConversationID)
        case members(ConversationID)
        case presence(UserID)
    }

    private enum Look: Hashable {
        case waiting(RollcallError)
        case state(ConnectionState)
        case typing(Typing)
        /// What is printed about a member list, without the members' presence.
        case members([Member], GroupCount, refusal: RollcallError?)
        case presence(Presence.Look)
    }

    private mutating func isNew(_ subject: Subject, _ look: Look) -> Bool {
        looks.updateValue(look, forKey: subject) != look
    }

    /// Returns the news in a connection state. Connection attempts and the length of pauses are not news.
    mutating func news(in state: ConnectionState) -> [News] {
        switch state {
        case .idle, .connecting, .closed: []
        case .waiting(_, let reason): isNew(.connection, .waiting(reason)) ? [.connection(state)] : []
        case .connected, .failed: isNew(.connection, .state(state)) ? [.connection(state)] : []
        }
    }

    mutating func news(in typing: Typing) -> [News] {
        isNew(.typing(typing.conversation), .typing(typing)) ? [.typing(typing)] : []
    }

    mutating func news(in members: Members) -> [News] {
        for member in members.people { names[member.user] = member.name }
        let people = members.people.map { Member(user: $0.user, name: $0.name) }
        let subject = Subject.members(members.conversation)
        // A conversation that never had members is not news.
        let isKnown = looks[subject] != nil || members.refusal != nil || members.count > 0
        let isNews = isKnown && isNew(subject, .members(people, members.groupCount, refusal: members.refusal))
        return (isNews ? [.members(members)] : []) + members.people.compactMap(\.presence).flatMap { news(in: $0) }
    }

    mutating func news(in presence: Presence) -> [News] {
        isNew(.presence(presence.user), .presence(presence.look))
            ? [.presence(presence, name: names[presence.user] ?? presence.name)] : []
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
                + [word(for: presence.status), lastSeen(presence, at: now)].filter { !$0.isEmpty }
                .joined(separator: " · ")
        }
    }

    private func word(for status: PresenceStatus) -> String {
        switch status {
        case .online: language.words.presence.online
        case .away: language.words.presence.away
        case .offline: language.words.presence.offline
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

/// An object with one key, which names the subject. `docs/cli.md` defines the format. Keys may be added; none is
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
