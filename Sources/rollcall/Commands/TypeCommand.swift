import ArgumentParser
import RollcallClient

/// `rollcall type`: types in a conversation, visible to other users.
struct TypeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "type", abstract: "Type in a conversation as a user, for some time.",
        discussion: "Rollcall transmits that a user types, not what. Ctrl-C ends the typing early.")

    @Argument(help: "The conversation.")
    var conversation: ConversationID

    @Option(name: .customLong("for"), help: ArgumentHelp("Type for this long: 5s, 2m.", valueName: "duration"))
    var duration: Duration

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    /// The time between two keys.
    private static let pace = Duration.milliseconds(120)

    func run() async throws {
        try await connection.withClient(.active) { client in
            for await state in client.connection where state.isConnected { break }
            let input = client.typingInput(in: conversation)
            let end = ContinuousClock.now + duration
            var key = 0
            while ContinuousClock.now < end {
                // The text grows and shrinks, and is never empty.
                input.edited(String(repeating: "x", count: 1 + abs(key % 40 - 20)))
                key += 1
                try await Task.sleep(until: min(end, .now + Self.pace))
            }
            await input.sendConfirmed()
        }
    }
}
