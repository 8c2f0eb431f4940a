import ArgumentParser
import RollcallModel
import RollcallWorker

/// `rollcall workers`: lists all workers once.
struct Workers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List all workers, including dead ones that are not swept yet.")

    @Flag(help: "Print the JSON of the admin port.")
    var json = false

    @OptionGroup(title: "Admin port")
    var admin: AdminOptions

    func run() async throws {
        let answer: AdminWorkers = try await admin.port().ask(.get, "workers")
        if json { return try Output.json(answer) }
        for line in answer.lines { try Output.line(line) }
    }
}
