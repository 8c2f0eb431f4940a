import ArgumentParser
import Foundation
import RollcallClient
import RollcallTerminal
import UnixSignals

/// How a command reaches the workers, and as whom.
struct ConnectionOptions: ParsableArguments {
    @Option(help: "Where a worker listens for devices.")
    var url = "ws://127.0.0.1:8080/v1/connect"

    @Option(name: .customLong("as"), help: "The user, where workers take a name for a token (auth.mode: insecure).")
    var user: UserID?

    @Option(
        help:
            "A file with a token, such as `rollcall token` makes, or - for standard input. Without, ROLLCALL_TOKEN counts.",
        completion: .file())
    var tokenFile: String?

    @Option(help: "This device's name; a token made for one device wants that.")
    var device: DeviceID?

    func validate() throws {
        guard user == nil || tokenFile == nil else {
            throw ValidationError("say who you are with one of --as and --token-file")
        }
    }

    /// How the connection is told of.
    var text: ConnectionText { ConnectionText(url: url, saysName: user != nil) }

    /// Connects, does `work`, and says goodbye: when the work is done, at Ctrl-C, or because of a mistake.
    ///
    /// - Parameters:
    ///   - state: what others see of this device.
    ///   - note: takes what there is to tell of the connection while the work goes on.
    func withClient(
        _ state: DeviceState, note: @escaping @Sendable (String) -> Void = Output.log,
        _ work: @escaping @Sendable (RollcallClient) async throws -> Void
    ) async throws {
        let client = try makeClient()
        client.setState(state)
        client.connect()
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup, .sigquit)
        let result = await Result {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await work(client) }
                group.addTask { for await _ in signals { return } }
                group.addTask { [text] in try await Self.report(client, text, note) }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
        await client.shutdown()
        do {
            try result.get()
        } catch let mistake as RollcallError {
            // Told once the terminal is the person's own again.
            Output.log(text.sentence(for: .failed(mistake)) ?? mistake.message)
            throw ExitCode.cannotServe
        }
    }

    private func makeClient() throws -> RollcallClient {
        guard let token = try user?.text ?? TokenInput.token(file: tokenFile, variable: "ROLLCALL_TOKEN") else {
            throw ValidationError("say who you are with --as, --token-file or ROLLCALL_TOKEN")
        }
        let device = try device ?? DeviceID("terminal-\(ProcessInfo.processInfo.processIdentifier)")
        return RollcallClient(url: url, device: device) { token }
    }

    /// Says how the connection stands, each state once; weather is waited out.
    ///
    /// - Throws: the mistake because of which the client has given up.
    private static func report(
        _ client: RollcallClient, _ text: ConnectionText, _ note: (String) -> Void
    ) async throws {
        var told: String?
        for await state in client.connection {
            if case .failed(let error) = state { throw error }
            guard let sentence = text.sentence(for: state), sentence != told else { continue }
            note(sentence)
            told = sentence
        }
    }
}

extension Result where Failure == any Error {
    /// What an asynchronous piece of work gave or threw.
    init(_ work: () async throws -> Success) async {
        do {
            self = .success(try await work())
        } catch {
            self = .failure(error)
        }
    }
}
