import ArgumentParser
import Foundation
import RollcallClient
import UnixSignals

/// How a command reaches the workers, and as whom.
struct ConnectionOptions: ParsableArguments {
    @Option(help: "Where a worker listens for devices.")
    var url = "ws://127.0.0.1:8080/v1/connect"

    @Option(name: .customLong("as"), help: "The user, where workers take a name for a token (auth.mode: insecure).")
    var user: UserID?

    @Option(help: "A token, such as `rollcall token` makes.")
    var token: String?

    @Option(help: "A file with the token.", completion: .file())
    var tokenFile: String?

    @Option(help: "This device's name; a token made for one device wants that.")
    var device: DeviceID?

    func validate() throws {
        guard [user?.text, token, tokenFile].compactMap({ $0 }).count == 1 else {
            throw ValidationError("say who you are with one of --as, --token and --token-file")
        }
    }

    /// Connects, does `work`, and says goodbye: when the work is done, at Ctrl-C, or because of a mistake.
    ///
    /// - Parameter state: what others see of this device.
    func withClient(
        _ state: DeviceState, _ work: @escaping @Sendable (RollcallClient) async throws -> Void
    ) async throws {
        let client = try makeClient()
        client.setState(state)
        client.connect()
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
        let result = await Result {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await work(client) }
                group.addTask { for await _ in signals { return } }
                group.addTask { try await Self.report(client) }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
        await client.shutdown()
        try result.get()
    }

    private func makeClient() throws -> RollcallClient {
        let token = try token ?? user?.text ?? readToken()
        let device = try device ?? DeviceID("terminal-\(ProcessInfo.processInfo.processIdentifier)")
        return RollcallClient(url: url, device: device) { token }
    }

    private func readToken() throws -> String {
        guard let tokenFile, let text = try? String(contentsOfFile: tokenFile, encoding: .utf8) else {
            throw ValidationError("the token file \(tokenFile ?? "") cannot be read")
        }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Says how the connection stands; weather is waited out.
    ///
    /// - Throws: the exit code, where the client has given up.
    private static func report(_ client: RollcallClient) async throws {
        for await state in client.connection {
            switch state {
            case .idle, .connecting, .closed: break
            case .connected(let session): Output.log("connected to \(session.worker) as \(session.user)")
            case .waiting(_, let reason): Output.log("not connected: \(reason.message); trying again")
            case .failed(let error):
                Output.log("given up: \(error)")
                throw ExitCode.cannotServe
            }
        }
    }
}

extension Result where Failure == any Error {
    /// What an asynchronous piece of work gave or threw.
    fileprivate init(_ work: () async throws -> Success) async {
        do {
            self = .success(try await work())
        } catch {
            self = .failure(error)
        }
    }
}
