import ArgumentParser
import Foundation
import RollcallModel
import RollcallTerminal

/// `rollcall erase`: erases a user.
struct Erase: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Revoke a user's tokens, end their sessions, and erase from Redis what else names them.",
        discussion: """
            Asks first. Rollcall keeps no list of a user's conversations: name those of which they are a member.
            """)

    @Argument(help: "Whom to erase.")
    var user: UserID

    @Option(name: [.customShort("c"), .long], help: "A conversation of which the user is a member. May be repeated.")
    var conversation: [ConversationID] = []

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup(title: "Admin port")
    var admin: AdminOptions

    func validate() throws {
        guard yes || isatty(STDIN_FILENO) == 1 else {
            throw ValidationError("this erases for good, and there is no terminal to ask at: say --yes")
        }
    }

    func run() async throws {
        let port = try admin.port()
        guard yes || isConfirmed() else {
            Output.log("Nothing was erased.")
            throw ExitCode.failure
        }
        try await port.order(.delete, "users", user.text, query: conversation.map { ("conversation", $0.text) })
        try Output.line(Shown.text("\(user) is erased"))
    }

    private func isConfirmed() -> Bool {
        Output.log(Shown.text("Erase all that is known of \(user), and end their sessions? [y/N]"))
        return ["y", "yes"].contains(readLine()?.lowercased())
    }
}
