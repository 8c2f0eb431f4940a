// The command line: one file per subcommand. Logs go to standard error, results to standard output.

import ArgumentParser
import RollcallModel

@main
struct Rollcall: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollcall",
        abstract: "Presence and typing indicators, over any number of workers and one Redis.",
        subcommands: [
            Dev.self, WorkerCommand.self, Watch.self, TypeCommand.self, Explain.self, Workers.self, SendAway.self,
            Erase.self, Token.self, DoctorCommand.self, Bench.self,
        ])

    static func main() async {
        await main(separated(Array(CommandLine.arguments.dropFirst())))
    }

    /// Splits arguments `--name=value` in two if the value begins with a character that combines with `=`, such as a
    /// combining mark. Otherwise ArgumentParser would not find the `=`.
    static func separated(_ arguments: [String]) -> [String] {
        let options = arguments.prefix { !$0.isSame(as: "--") }
        return options.flatMap { argument in
            guard argument.begins(with: "--"), let (name, value) = argument.cut(at: "="),
                argument.firstIndex(of: "=") != argument.utf8.firstIndex(of: UInt8(ascii: "="))
            else { return [argument] }
            return [name, value]
        } + arguments.dropFirst(options.count)
    }
}

extension ExitCode {
    /// The configuration is wrong (`EX_CONFIG`). Wrong usage is 64 (`EX_USAGE`), set by ArgumentParser.
    static let wrongConfiguration = ExitCode(78)
    /// Something required is missing: a port is taken, or Redis does not answer (`EX_UNAVAILABLE`).
    static let cannotServe = ExitCode(69)
}
