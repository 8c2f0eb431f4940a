import ArgumentParser
import RollcallTerminal
import UnixSignals

/// `rollcall top`: shows all workers, live.
struct Top: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Watch all workers: sessions, rates, leases, the busiest conversations, log events.",
        discussion: """
            Any worker reports on all. On a terminal, the view updates in place until q or Ctrl-C; otherwise it prints \
            one line per interval. Exit codes: 0 after q or Ctrl-C, 1 if the worker refuses (for example, without a \
            token), 64 for wrong usage, 69 if no worker answers at the start. If the worker stops answering later, \
            this waits for it.
            """)

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @Option(help: ArgumentHelp("How often to ask: 200ms to 1h.", valueName: "duration"))
    var interval = Duration.seconds(1)

    @Flag(help: "Print the view once, as soon as there are rates.")
    var once = false

    @OptionGroup(title: "Admin port")
    var admin: AdminOptions

    func validate() throws {
        guard (.milliseconds(200)...(.seconds(3600))).contains(interval) else {
            throw ValidationError("--interval must be a duration from 200ms to 1h")
        }
    }

    func run() async throws {
        let session = TopSession(port: try admin.port(), interval: interval)
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup, .sigquit)
        let isLive = !json && !once && TerminalDevice.kind.canDraw && TerminalDevice.isInForeground
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { [json, once] in
                    if isLive { try await session.show() } else { try await session.lines(asJSON: json, once: once) }
                }
                group.addTask { for await _ in signals { return } }
                defer { group.cancelAll() }
                try await group.next()
            }
        } catch let failure as AdminFailure {
            // Logged only now, when the terminal shows the user's own screen again.
            for sentence in failure.sentences { Output.log(sentence) }
            throw failure.exit
        }
    }
}
