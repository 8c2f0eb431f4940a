// `rollcall type`, and how commands connect as a client.

import ArgumentParser
import Foundation
import RollcallClient
import RollcallWorker
import UnixSignals

/// `rollcall type`: types in a conversation, visible to other users.
struct TypeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "type", abstract: "Type in a conversation as a user, for some time.",
        discussion: "Rollcall transmits that a user types, not what. Ctrl-C ends the typing early.")

    @Argument(help: "The conversation.")
    var conversation: ConversationID

    @Option(name: .customLong("for"), help: ArgumentHelp("Type for this long: 5s, 2m.", valueName: "duration"))
    var duration: Duration

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    /// The time between two keys.
    private static let pace = Duration.milliseconds(120)

    func run() async throws {
        try await connection.withClient(.active) { client in
            for await state in client.connection where state.isConnected { break }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await types(client) }
                group.addTask {
                    for await typing in client.typing(in: conversation) {
                        if let refusal = typing.refusal { throw refusal }
                    }
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    private func types(_ client: RollcallClient) async throws {
        let input = client.typingInput(in: conversation)
        let end = ContinuousClock.now + duration
        var key = 0
        while ContinuousClock.now < end {
            // The text grows and shrinks, and is never empty.
            input.edited(String(repeating: "x", count: 1 + abs(key % 40 - 20)))
            key += 1
            try await Task.sleep(until: min(end, .now + Self.pace))
        }
        await input.sendConfirmed()
    }
}

/// How a command reaches the workers, and as which user.
struct ConnectionOptions: ParsableArguments {
    @Option(help: "The address where a worker listens for devices.")
    var url = "ws://127.0.0.1:8080/v1/connect"

    @Option(name: .customLong("as"), help: "The user, if workers accept names as tokens (auth.mode: insecure).")
    var user: UserID?

    @Option(help: "With --as: the user's name, as others are shown it. A token says it itself.")
    var name: String?

    @Option(
        help:
            "A file with a token, as made by `rollcall token`, or - for standard input. The default is ROLLCALL_TOKEN.",
        completion: .file())
    var tokenFile: String?

    @Option(
        help: "For wss://, a file with the certificates (PEM) of the authority to trust, instead of the system's.",
        completion: .file())
    var authority: String?

    @Option(help: "This device's name. A token for one device requires that device's name.")
    var device: DeviceID?

    func validate() throws {
        guard user == nil || tokenFile == nil else {
            throw ValidationError("name the user with either --as or --token-file")
        }
        guard name == nil || user != nil else {
            throw ValidationError("--name goes with --as; a token says its user's name: `rollcall token --name`")
        }
    }

    /// Describes the state of the connection.
    var text: ConnectionText { ConnectionText(url: url, saysName: user != nil) }

    /// Connects, does `work`, and says goodbye: when the work is done, after Ctrl-C, or after an error that somebody has to
    /// correct. The client would try again after minutes; whoever sits at the terminal sees the reason at once.
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
        let unproven = user.map { user in name.map { "\(user) \($0)" } ?? user.text }
        guard let token = try unproven ?? TokenInput.token(file: tokenFile, variable: "ROLLCALL_TOKEN") else {
            throw ValidationError("name the user with --as, --token-file or ROLLCALL_TOKEN")
        }
        let device = try device ?? DeviceID("terminal-\(ProcessInfo.processInfo.processIdentifier)")
        var options = ClientOptions()
        // The person at the terminal has written the URL, and sees it.
        options.allowsUnencryptedConnections = true
        options.trustedCertificates = authority
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

/// Describes the state of a connection.
struct ConnectionText: Hashable, Sendable {
    /// The URL at which the worker is expected.
    let url: String
    /// Whether the user gave a name instead of a token (`--as`).
    let saysName: Bool

    /// The sentence; `nil` if there is nothing to say yet.
    func sentence(for state: ConnectionState) -> String? {
        switch state {
        case .idle, .connecting, .closed: nil
        case .connected(let session): Shown.text("connected to \(session.worker) as \(session.user)")
        case .waiting(_, let reason): told("not connected: \(reason.message); trying again", reason)
        case .failed(let error): told("given up: \(error.message)", error)
        }
    }

    private func told(_ news: String, _ error: RollcallError) -> String {
        Shown.text(advice(on: error).map { "\(news). \($0)" } ?? news)
    }

    private func advice(on error: RollcallError) -> String? {
        switch error.code {
        case .anotherUser: nil
        case .unreachable where error.underlying is UpgradeRefused: nil
        case .unreachable where error.underlying.flatMap(TLSReason.sentence) != nil:
            "Somebody answers at \(url), but \(error.underlying.flatMap(TLSReason.sentence) ?? "")."
        case .unreachable:
            """
            Nobody answers at \(url). Start workers with `rollcall dev` or `rollcall worker`, or say with --url where \
            they listen.
            """
        case .invalidURL: "--url takes ws://HOST:PORT/v1/connect or wss://…, not \(url)."
        case .badToken where saysName:
            """
            --as works where workers take a name for a token (auth.mode: insecure). This one wants a token: \
            `rollcall token USER` makes one, with the secret of the worker, and --token-file takes it.
            """
        case .badToken:
            """
            Make a token with `rollcall token USER`, with the very secret, issuer and audience that the worker at \
            \(url) has; one made for a device wants that --device.
            """
        case .tokenExpired: "Make a new one with `rollcall token USER`; --lifetime says how long it is good."
        case .replaced: "Another terminal has the same --device; give this one another name."
        case .protocolError: "Is it a Rollcall worker of this version that listens at \(url)?"
        case .tooManySessions: "The worker's limits.sessions_per_user says how many a user may have."
        case .tooManyMessages, .sentAway, .refused, .notAMember, .notShared, .limit, .badRequest, .tokenUnavailable,
            .noWebSocket, .connectionLost, .asked:
            nil
        }
    }
}
