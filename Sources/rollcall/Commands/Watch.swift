import ArgumentParser
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

    @OptionGroup
    var language: LanguageOption

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    func validate() throws {
        if users.isEmpty, conversation.isEmpty { throw ValidationError("name users, or conversations with -c") }
    }

    func run() async throws {
        // JSON has lines about the connection too.
        try await connection.withClient(.background, note: { [json] in if !json { Output.log($0) } }) { client in
            try await NewsPrinter(client, in: language.language, asJSON: json)
                .follow(conversations: conversation, users: users)
        }
    }
}
