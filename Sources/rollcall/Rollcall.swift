// The command line: one subcommand a file. Logs go to standard error, results to standard output.

import ArgumentParser

@main
struct Rollcall: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollcall",
        abstract: "Who is here and who is typing, over any number of workers and one Redis.",
        subcommands: [
            Dev.self, WorkerCommand.self, Watch.self, TypeCommand.self, Status.self, Explain.self, Workers.self,
            Top.self, SendAway.self, Erase.self, Token.self, DoctorCommand.self, LoadCommand.self,
            Bench.self,
        ])
}

extension ExitCode {
    /// The configuration is wrong (`EX_CONFIG`). Wrong usage is 64, `EX_USAGE`, which ArgumentParser sees to.
    static let wrongConfiguration = ExitCode(78)
    /// Something that is needed is not there: a port is taken, Redis does not answer (`EX_UNAVAILABLE`).
    static let cannotServe = ExitCode(69)
}
