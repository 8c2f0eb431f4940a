import ArgumentParser
import RollcallClient

/// `rollcall watch`: who types in some conversations and who is here, live in the terminal.
struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Watch conversations and users, live.",
        discussion: "The present state comes first, then every change. To others the watching device is offline.")

    @Argument(help: "Users whose presence to watch.")
    var users: [UserID] = []

    @Option(name: .shortAndLong, help: "A conversation in which to watch who types. May be repeated.")
    var conversation: [ConversationID] = []

    @Flag(help: "Print one JSON object a line.")
    var json = false

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    func validate() throws {
        if users.isEmpty, conversation.isEmpty { throw ValidationError("name users, or conversations with -c") }
    }

    func run() async throws {
        try await connection.withClient(.background) { [users, conversation, json] client in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for conversation in conversation {
                    group.addTask { try await Self.watch(conversation, through: client, asJSON: json) }
                }
                for user in users {
                    group.addTask { try await Self.watch(user, through: client, asJSON: json) }
                }
                try await group.waitForAll()
            }
        }
    }

    private static func watch(
        _ conversation: ConversationID, through client: RollcallClient, asJSON: Bool
    ) async throws {
        for await typing in client.typing(in: conversation) {
            if asJSON {
                let line = ServerMessage.Typing(
                    conversation: conversation, users: typing.typists, count: typing.count)
                try Output.json(["typing": line])
            } else {
                // A terminal knows nobody's name but those that the members have; who has none goes by identifier.
                let text = TypingText.english.text(for: typing) { user in
                    typing.typists.first { $0.user == user }?.name ?? user.text
                }
                try Output.line("\(conversation)  \(text.isEmpty ? "nobody is typing" : text)")
            }
        }
    }

    private static func watch(_ user: UserID, through client: RollcallClient, asJSON: Bool) async throws {
        for await presence in client.presence(of: user) {
            if asJSON {
                try Output.json(["presence": presence])
            } else {
                try Output.line(presence.line(at: client.serverTime))
            }
        }
    }
}

extension Presence {
    /// The user's state as a line for the terminal.
    func line(at now: Timestamp?) -> String {
        guard status == .offline else { return "\(user)  \(status.rawValue)" }
        guard let lastSeen, let now else { return "\(user)  offline, never seen" }
        return "\(user)  offline, last seen \(now.since(lastSeen).components.seconds) s ago"
    }
}
