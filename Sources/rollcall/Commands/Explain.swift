import ArgumentParser
import RollcallModel
import RollcallWorker

/// `rollcall explain`: explains why a user has a status.
struct Explain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Explain a user's presence: each device, its worker, its lease, and the rule that decided.")

    @Argument(help: "The user.")
    var user: UserID

    @Flag(help: "Print the JSON of the admin port.")
    var json = false

    @OptionGroup(title: "Admin port")
    var admin: AdminOptions

    func run() async throws {
        let answer: AdminUser = try await admin.port().ask(.get, "users", user.text)
        if json { return try Output.json(answer) }
        for line in answer.lines { try Output.line(line) }
    }
}
