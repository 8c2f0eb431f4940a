import ArgumentParser
import RollcallTerminal
import UnixSignals

/// `rollcall top`: shows all workers, live.
struct Top: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Watch all workers: sessions, rates, leases, the busiest conversations, what was logged.",
        discussion: """
            Any worker tells of all. On a terminal the view is drawn over in place, until q or Ctrl-C; elsewhere there \
            is a line each interval. Exit codes: 0 when somebody leaves, 1 if the worker refuses (such as for want of \
            the token), 64 for wrong usage, 69 if at the beginning no worker answers; one that goes away later is \
            waited for.
            """)

    @Flag(help: "Print one JSON object a line.")
    var json = false

    @Option(help: ArgumentHelp("How often to ask: 200ms to 1h.", valueName: "duration"))
    var interval = Duration.seconds(1)

    @Flag(help: "Print what there is, once there are rates, and leave the terminal as it is.")
    var once = false

    @OptionGroup(title: "Admin port")
    var admin: AdminOptions

    func validate() throws {
        guard (.milliseconds(200)...(.seconds(3600))).contains(interval) else {
            throw ValidationError("--interval takes a duration from 200ms to 1h")
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
