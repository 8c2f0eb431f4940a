// The command line. Results go to standard output, everything else to standard error.

public import ArgumentParser
import Foundation
public import RollcallProtocol
import RollcallWorker
import UnixSignals

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
        let options = arguments.prefix { ByteString($0) != "--" }
        return options.flatMap { argument in
            guard argument.hasPrefix("--"), let (name, value) = ByteString(argument).cut(at: "="),
                argument.firstIndex(of: "=") != argument.utf8.firstIndex(of: UInt8(ascii: "="))
            else { return [argument] }
            return [name.string, value.string]
        } + arguments.dropFirst(options.count)
    }
}

extension ExitCode {
    /// The configuration is wrong (`EX_CONFIG`). Wrong usage is 64 (`EX_USAGE`), set by ArgumentParser.
    static let wrongConfiguration = ExitCode(78)
    /// Something required is missing: a port is taken, or Redis does not answer (`EX_UNAVAILABLE`).
    static let cannotServe = ExitCode(69)
}

extension Identifier: ExpressibleByArgument {
    public init?(argument: String) {
        guard let name = try? Self(argument) else { return nil }
        self = name
    }
}

extension Duration: @retroactive ExpressibleByArgument {
    /// Parses `250ms`, `5s`, `2m`, `12h` or `30d`.
    public init?(argument: String) {
        guard let duration = DurationText.duration(argument) else { return nil }
        self = duration
    }

    public var defaultValueDescription: String { DurationText.text(self) }
}

/// Tokens are read from a file, standard input or the environment, and never from an argument, since every program on
/// the machine can read those.
enum TokenInput {
    /// - Parameters:
    ///   - file: the path of a file, or `-` for standard input. Its first line is used: a worker's own token file may
    ///     contain the previous token on a second line.
    ///   - variable: the environment variable to use if there is no file.
    /// - Returns: `nil` if neither is given.
    static func token(file: String?, variable: String) throws -> String? {
        guard let file else {
            let token = ProcessInfo.processInfo.environment[variable]?.trimmingCharacters(in: .whitespacesAndNewlines)
            return token?.isEmpty == true ? nil : token
        }
        let text = file == "-" ? readLine() ?? "" : try? String(contentsOfFile: file, encoding: .utf8)
        guard let text else { throw ValidationError("the token file \(file) cannot be read") }
        let line = text.split(whereSeparator: \.isNewline).first?.trimmingCharacters(in: .whitespaces) ?? ""
        guard !line.isEmpty else {
            throw ValidationError(
                file == "-" ? "there is no token on standard input" : "the token file \(file) is empty")
        }
        return line
    }
}

/// For commands that start processes, and must stop them when they are interrupted.
enum Interruptible {
    /// The end of the terminal, unless whoever started the program made it ignore that (`nohup`).
    static let hangup: [UnixSignal] = {
        let before = signal(SIGHUP, SIG_IGN)
        signal(SIGHUP, before)
        return unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) ? [] : [.sighup]
    }()

    /// Does `work`, or cancels it on Ctrl-C, SIGTERM and the end of the terminal, and returns once it has cleaned up.
    ///
    /// - Throws: the exit code for what was missing or failed, which is logged to standard error.
    static func run(as name: String, _ work: @escaping @Sendable () async throws -> Void) async throws {
        let signals = await UnixSignalsSequence(trapping: [.sigint, .sigterm] + hangup)
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await work() }
                group.addTask { for await _ in signals { return } }
                defer { group.cancelAll() }
                try await group.next()
            }
        } catch is CancellationError {
            return
        } catch let error as any CustomStringConvertible & Error {
            Output.log("\(name): \(error.description)")
            throw ExitCode.cannotServe
        }
    }
}
