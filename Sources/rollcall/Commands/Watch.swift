import ArgumentParser
import RollcallClient
import RollcallTerminal

/// `rollcall watch`: shows live who is typing in conversations, and who is online.
struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Watch conversations and users, live.",
        discussion: """
            Shows who types in each conversation and, if it has members, their presence. On a terminal, the view \
            updates in place until q or Ctrl-C; otherwise prints the current state and then every change, one per \
            line. To other users, the watching device is offline.
            """)

    @Argument(help: "Users whose presence to watch.")
    var users: [UserID] = []

    @Option(name: .shortAndLong, help: "A conversation to watch. May be repeated.")
    var conversation: [ConversationID] = []

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @OptionGroup
    var language: LanguageOption

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    func validate() throws {
        if users.isEmpty, conversation.isEmpty { throw ValidationError("name users, or conversations with -c") }
    }

    func run() async throws {
        if json {
            try await connection.withClient(.background, note: { _ in }) { try await lines(asJSON: true, $0) }
        } else if TerminalDevice.kind.canDraw, TerminalDevice.isInForeground {
            try await connection.withClient(.background, note: { _ in }) { try await live($0) }
        } else {
            try await connection.withClient(.background) { try await lines(asJSON: false, $0) }
        }
    }

    private var watched: Watched { Watched(conversations: conversation, users: users) }

    private func live(_ client: RollcallClient) async throws {
        let layout = WatchScreen(in: language.language, connection: connection.text)
        try await WatchSession(watched: watched, layout: layout, client: client).run()
    }

    private func lines(asJSON: Bool, _ client: RollcallClient) async throws {
        let printer = NewsPrinter(client, in: language.language, asJSON: asJSON)
        try await client.follow(conversations: watched.conversations, users: watched.users) {
            try await printer.changed($0)
        }
    }
}
