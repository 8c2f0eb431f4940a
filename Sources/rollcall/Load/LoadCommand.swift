import ArgumentParser
import Foundation
import RollcallLoad
import UnixSignals

/// `rollcall load`: simulates very many devices.
struct LoadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "load",
        abstract: "Put load on workers with many simulated devices, and measure latencies.",
        discussion: """
            Without --url it uses the workers of a `rollcall dev` on this machine, or else one at \
            ws://127.0.0.1:8080/v1/connect. Latencies are measured from when an event was due, not from when this \
            program sent it. Ctrl-C ends it with the report so far. Exit codes: 0 with a report, 64 for wrong usage, \
            69 if no worker accepts the devices, 78 for a wrong configuration.
            """)

    @OptionGroup
    var options: LoadOptions

    @Option(help: "Write the report to this file, as JSON.", completion: .file(extensions: ["json"]))
    var json: String?

    @OptionGroup(title: "Admin port, for the workers' CPU time")
    var admin: AdminOptions

    @OptionGroup(title: "Configuration, to sign tokens; by default, the token is the user's name")
    var tokens: LoadTokenOptions

    @Option(help: .hidden)
    var part: String?

    func validate() throws {
        try options.check(perProcess: LoadOptions.devicesPerProcess())
        if let part, options.plan(part: part) == nil { throw ValidationError("--part is for internal use") }
    }

    func run() async throws {
        if let part, let plan = options.plan(part: part) {
            return try await LoadPart(plan, addresses: options.url, tokens: tokens.minted(for: plan)).run()
        }
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
        do {
            let session = try LoadSession(options, try await LoadTarget.find(options, admin: admin))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { [json] in try Self.deliver(try await session.run(), json) }
                group.addTask { try await Self.heed(signals, session) }
                defer { group.cancelAll() }
                try await group.next()
            }
        } catch let error as LoadError {
            Output.log("rollcall load: \(error.description)")
            throw ExitCode.cannotServe
        }
    }

    /// The first signal requests the report so far; a second one ends the command at once.
    private static func heed(_ signals: UnixSignalsSequence, _ session: LoadSession) async throws {
        var count = 0
        for await _ in signals {
            count += 1
            if count > 1 { throw ExitCode(130) }
            session.stop()
        }
    }

    private static func deliver(_ report: LoadReport, _ file: String?) throws {
        for line in report.lines { try Output.line(line) }
        guard let file else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            try (encoder.encode(report) + Data("\n".utf8)).write(to: URL(fileURLWithPath: file))
        } catch {
            throw LoadError("the report could not be written to \(file): \(error.localizedDescription)")
        }
    }
}
