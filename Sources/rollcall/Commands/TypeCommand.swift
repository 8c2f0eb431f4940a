import ArgumentParser
import RollcallClient

/// `rollcall type`: be someone typing, for others to see.
struct TypeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "type", abstract: "Be someone typing in a conversation, until Ctrl-C.")

    @Argument(help: "Where to type.")
    var conversation: ConversationID

    @Option(name: .customLong("for"), help: ArgumentHelp("Stop after this long.", valueName: "duration"))
    var duration: Duration?

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    /// Between two letters; any pause well below the client's inactivity does.
    private static let pause = Duration.milliseconds(200)

    func run() async throws {
        try await connection.withClient(.active) { [conversation, duration] client in
            let input = client.typingInput(in: conversation)
            for await state in client.connection where state.isConnected { break }
            let end = duration.map { ContinuousClock.now + $0 }
            while end.map({ ContinuousClock.now < $0 }) ?? true {
                input.edited("still composing")
                try await Task.sleep(for: Self.pause)
            }
            await input.sendConfirmed()
        }
    }
}
