import ArgumentParser
import RollcallClient
import RollcallTerminal

/// `rollcall status`: reads the presence of users once.
struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Print the presence of users once.")

    @Argument(help: "The users.")
    var users: [UserID]

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup
    var language: LanguageOption

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    func run() async throws {
        try await connection.withClient(.background) { [users, json, language] client in
            let presences = await client.currentPresence(of: users)
            let known = users.compactMap { presences[$0] }
            if json {
                try Output.json(["users": known])
            } else {
                let wording = Wording(in: language.language)
                for presence in known {
                    let person = Person(user: presence.user, presence: presence)
                    try Output.line(person.line(in: wording, at: client.serverTime))
                }
            }
            guard known.count == users.count else {
                Output.log(
                    "no answer in time for \(users.filter { presences[$0] == nil }.map(\.text).joined(separator: ", "))"
                )
                throw ExitCode.cannotServe
            }
        }
    }
}
