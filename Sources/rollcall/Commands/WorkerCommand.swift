import ArgumentParser
import Logging
import RollcallWorker
import ServiceLifecycle
import UnixSignals

/// `rollcall worker`: runs a worker until it is stopped.
struct WorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "worker",
        abstract: "Run a worker, which devices connect to and which keeps their presence and typing in Redis.",
        discussion: """
            Prints one line to standard output when it is ready. SIGTERM and SIGINT drain it: it sends its devices to \
            other workers, then exits. Exit codes: 0 after a graceful shutdown, 64 for wrong usage, 69 if it cannot \
            serve (a port is taken, or Redis does not answer), 78 for a wrong configuration.
            """)

    @OptionGroup(title: "Configuration")
    var options: ConfigurationOptions

    @Flag(help: .hidden)
    var exitOnStdinEnd = false

    func run() async throws {
        if exitOnStdinEnd { Lifeline.exitAtEnd() }
        let configuration = try options.load()
        WorkerLog.bootstrap(configuration.log)
        let worker = Worker(configuration, metrics: .bootstrap()) { ready in
            try? Output.line("\(ready)")
            ServiceNotice.ready(status: "\(ready)").send()
        } onDrain: {
            ServiceNotice.stopping.send()
        }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [.init(service: worker, successTerminationBehavior: .gracefullyShutdownGroup)],
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: Logger(label: "rollcall.lifecycle") { _ in SwiftLogNoOpLogHandler() }))
        do {
            try await group.run()
        } catch let error as CannotServe {
            Output.log("worker: \(error)")
            throw ExitCode.cannotServe
        } catch let problems as ConfigurationProblems {
            for problem in problems.problems { Output.log("configuration: \(problem)") }
            throw ExitCode.wrongConfiguration
        }
    }
}
