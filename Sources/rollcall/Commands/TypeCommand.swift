import ArgumentParser
import Foundation
import RollcallClient
import RollcallTerminal
import RollcallWorker

/// `rollcall type`: types in a conversation, visible to other users.
struct TypeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "type", abstract: "Type in a conversation as a user.",
        discussion: """
            On a terminal, shows a text field, with other users' typing above it. The text never leaves this machine: \
            Rollcall transmits that a user types, not what. --script types as described in a file, with one command \
            per line: type, paste, erase, send, wait, pace, background, foreground, idle, leave, enter or repeat.
            """)

    @Argument(help: "The conversation.")
    var conversation: ConversationID

    @Option(help: "Run the commands in this file; - is standard input.", completion: .file())
    var script: String?

    @Option(name: .customLong("for"), help: ArgumentHelp("Type for this long.", valueName: "duration"))
    var duration: Duration?

    @OptionGroup
    var language: LanguageOption

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    func validate() throws {
        if script != nil, duration != nil { throw ValidationError("--script and --for exclude each other") }
    }

    func run() async throws {
        if let duration { return try await type(for: duration) }
        let canDraw = TerminalDevice.kind.canDraw
        if let script {
            let script = try read(script)
            return canDraw && TerminalDevice.isInForeground ? try await show(script) : try await perform(script)
        }
        guard canDraw, TerminalDevice.hasKeyboard else {
            throw ValidationError(
                "there is no terminal to type in; use --script FILE or --for 5s")
        }
        try await connection.withClient(.active, note: { _ in }) { try await session($0).compose() }
    }

    private func show(_ script: Script) async throws {
        try await connection.withClient(.active, note: { _ in }) { try await session($0).show(script) }
    }

    private func perform(_ script: Script) async throws {
        try await connection.withClient(.active) { try await session($0).perform(script) }
    }

    private func type(for duration: Duration) async throws {
        try await connection.withClient(.active) { try await session($0).type(for: duration) }
    }

    private func session(_ client: RollcallClient) -> TypeSession {
        TypeSession(client, in: conversation, language.language, connection.text)
    }

    private func read(_ file: String) throws -> Script {
        let handle = file == "-" ? FileHandle.standardInput : FileHandle(forReadingAtPath: file)
        guard let handle, let text = try? handle.readToEnd() ?? Data() else {
            throw ValidationError("the script \(file) cannot be read")
        }
        do {
            return try Script(String(decoding: text, as: UTF8.self), duration: DurationText.duration)
        } catch {
            Output.log(error.description(of: file == "-" ? "script" : file))
            throw ExitCode.validationFailure
        }
    }
}
