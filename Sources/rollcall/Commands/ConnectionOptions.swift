import ArgumentParser
import Foundation
import RollcallClient
import UnixSignals

/// How a command reaches the workers, and as which user.
struct ConnectionOptions: ParsableArguments {
    @Option(help: "The address where a worker listens for devices.")
    var url = "ws://127.0.0.1:8080/v1/connect"

    @Option(name: .customLong("as"), help: "The user, if workers accept names as tokens (auth.mode: insecure).")
    var user: UserID?

    @Option(
        help:
            "A file with a token, as made by `rollcall token`, or - for standard input. The default is ROLLCALL_TOKEN.",
        completion: .file())
    var tokenFile: String?

    @Option(help: "This device's name. A token for one device requires that device's name.")
    var device: DeviceID?

    func validate() throws {
        guard user == nil || tokenFile == nil else {
            throw ValidationError("name the user with either --as or --token-file")
        }
    }

    /// Describes the state of the connection.
    var text: ConnectionText { ConnectionText(url: url, saysName: user != nil) }

    /// Connects, does `work`, and says goodbye: when the work is done, after Ctrl-C, or after a final error.
    ///
    /// - Parameters:
    ///   - state: the device state that other users see.
    ///   - note: called with messages about the connection while the work goes on.
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
            Output.log(text.sentence(for: .failed(mistake)) ?? mistake.message)
            throw ExitCode.cannotServe
        }
    }

    private func makeClient() throws -> RollcallClient {
        guard let token = try user?.text ?? TokenInput.token(file: tokenFile, variable: "ROLLCALL_TOKEN") else {
            throw ValidationError("name the user with --as, --token-file or ROLLCALL_TOKEN")
        }
        let device = try device ?? DeviceID("terminal-\(ProcessInfo.processInfo.processIdentifier)")
        var options = ClientOptions()
        // The person at the terminal has written the URL, and sees it.
        options.allowsUnencryptedConnections = true
        return RollcallClient(url: url, device: device, options: options) { token }
    }

    /// Reports the state of the connection, each change once. Temporary failures are waited for.
    ///
    /// - Throws: the error because of which the client gave up.
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
    /// The result of asynchronous work.
    init(_ work: () async throws -> Success) async {
        do {
            self = .success(try await work())
        } catch {
            self = .failure(error)
        }
    }
}
