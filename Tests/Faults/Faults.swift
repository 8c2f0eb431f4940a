// `faults`: runs all faults on real processes, and reports which promises held.

public import ArgumentParser
public import FaultSuite
import Foundation
public import TestSupport

extension TestRedis.Kind: ExpressibleByArgument {}
extension Authentication: ExpressibleByArgument {}

@main
struct Faults: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "faults", abstract: "Puts Rollcall's promises to the test, fault by fault.",
        discussion: """
            The program `rollcall` must stand beside this one. Results are kept: a run that was ended goes on where it \
            was, and what another build of `rollcall` measured is measured again. The exit code is 1 if a promise was \
            broken.
            """)

    @Option(help: ArgumentHelp("Only rows whose name has this in it.", valueName: "regular expression"))
    var only: String?
    @Option(help: "What Redis is: server, sentinel or cluster; by default one server, and for some rows more.")
    var on: TestRedis.Kind?
    @Option(help: "How devices show who they are: jwt or insecure; by default every other round of each fault has jwt.")
    var auth: Authentication?
    @Option(help: "Rounds of each fault; by default 20 with the short settings and 2 with the default ones.")
    var rounds: Int?
    @Option(help: "One round of each row, those played longest ago first, until so many minutes are over.")
    var minutes: Int?
    @Option(help: "How many rounds side by side.")
    var jobs = 2
    @Option(help: "The file where results are kept.")
    var results = ".build/faults.json"
    @Flag(help: "Measure again what was measured before.")
    var fresh = false
    @Flag(help: "Print the table as Markdown.")
    var markdown = false
    @Flag(help: "Play nothing, only print the table.")
    var show = false

    func validate() throws {
        if rounds.map({ $0 < 1 }) ?? false { throw ValidationError("--rounds is at least 1") }
        if jobs < 1 { throw ValidationError("--jobs is at least 1") }
        if let only, (try? Regex(only)) == nil { throw ValidationError("--only is no regular expression") }
    }

    func run() async throws {
        let runner = try Runner(
            try wanted(), rounds: rounds, for: minutes.map { .seconds(60 * $0) }, authentication: auth,
            file: URL(filePath: results)
        ) { line in
            FileHandle.standardError.write(Data("\(line)\n".utf8))
        }
        if fresh { await runner.forget() }
        let rows = show ? await runner.rows : await runner.run(width: jobs)
        let tables = Settings.all.map { settings in
            (settings, Table(rows.filter { $0.settings == settings.name }))
        }
        for (settings, table) in tables where !table.isEmpty {
            print("\(markdown ? "### " : "")\(settings.description)\n")
            print(markdown ? table.markdown : table.text, terminator: "\n\n")
            for figure in table.figures { print("\(markdown ? "- " : "")\(figure)") }
            if !table.figures.isEmpty { print() }
        }
        var stale = 0
        for row in rows where await !runner.isCurrent(row) { stale += 1 }
        if stale > 0 { print("\(stale) rows were measured with another build of rollcall.") }
        if tables.contains(where: \.1.isBroken) { throw ExitCode(1) }
    }

    /// The rows in the order of the table, the short settings first.
    private func wanted() throws -> [Job] {
        let pattern = try only.map { try Regex($0).ignoresCase() }
        let faults = Fault.all.filter { on.map($0.stands(on:)) ?? true }
        let all = Settings.all.flatMap { settings in faults.map { Job($0, settings, on: on) } }
        let wanted = all.filter { job in pattern.map { job.name.contains($0) } ?? true }
        if wanted.isEmpty { throw ValidationError("no row has \(only ?? "") in its name") }
        return wanted
    }
}
