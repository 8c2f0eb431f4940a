import ArgumentParser
import Foundation
import RollcallModel

/// `rollcall erase`: erases a user.
struct Erase: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Revoke a user's tokens, end their sessions, and erase their other data from Redis.",
        discussion: """
            Asks for confirmation. Rollcall has no list of a user's conversations: name those with them as a member.
            """)

    @Argument(help: "The user to erase.")
    var user: UserID

    @Option(name: [.customShort("c"), .long], help: "A conversation of which the user is a member. May be repeated.")
    var conversation: [ConversationID] = []

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup(title: "Admin port")
    var admin: AdminOptions

    func validate() throws {
        guard yes || isatty(STDIN_FILENO) == 1 else {
            throw ValidationError("erasing is permanent, and there is no terminal for confirmation: use --yes")
        }
    }

    func run() async throws {
        let port = try admin.port()
        guard yes || isConfirmed() else {
            Output.log("Nothing was erased.")
            throw ExitCode.failure
        }
        try await port.order(.delete, "users", user.text, query: conversation.map { ("conversation", $0.text) })
        try Output.line(Shown.text("\(user) was erased"))
    }

    private func isConfirmed() -> Bool {
        Output.log(Shown.text("Erase all data of \(user), and end their sessions? [y/N]"))
        return ["y", "yes"].contains(readLine()?.lowercased())
    }
}
