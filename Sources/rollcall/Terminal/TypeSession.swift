// `rollcall type`: keys, or the lines of a script, are the user's typing.

import RollcallClient
import RollcallTerminal

/// A user who is composing in a conversation.
struct TypeSession: Sendable {
    let client: RollcallClient
    let input: TypingInput
    let language: Language
    let connection: ConnectionText

    init(_ client: RollcallClient, in conversation: ConversationID, _ language: Language, _ connection: ConnectionText)
    {
        self.client = client
        self.language = language
        self.connection = connection
        input = client.typingInput(in: conversation)
    }

    /// Shows a field on the terminal, until the user leaves it.
    func compose() async throws {
        try await onScreen(hint: ComposeScreen.keys) { screen in
            let keyboard = Keyboard()
            var decoder = KeyDecoder()
            while let keys = await keyboard.keys(&decoder) {
                for key in keys {
                    let effect = try await screen.change { $0.pressed(key) }
                    if effect == .leaves { return }
                    if effect == .redraws { try await screen.redraw() }
                    take(effect)
                }
            }
        }
    }

    /// Shows a field on the terminal, which a script fills.
    func show(_ script: Script) async throws {
        try await onScreen(hint: "a script types · Ctrl-C leaves") { screen in
            try await play(script) { deed in
                if case .press(let key) = deed { take(try await screen.change { $0.pressed(key) }) }
                try await screen.change { $0.did(deed) }
            }
        }
    }

    /// Plays a script without a screen. Prints sent texts and other users' typing, one per line.
    func perform(_ script: Script) async throws {
        try await during({
            let printer = NewsPrinter(client, in: language)
            try await client.follow(conversations: [input.conversation], withMembers: false) {
                try await printer.changed($0)
            }
        }) {
            try await type(script) { try Output.line("sent: \(Shown.text($0))") }
        }
    }

    /// Types for this long, and prints nothing.
    func type(for limit: Duration) async throws {
        try await type(.endless, for: limit) { _ in }
    }

    private func type(
        _ script: Script, for limit: Duration? = nil, _ sent: (String) throws -> Void
    ) async throws {
        var composition = Composition(in: input.conversation)
        try await play(script, for: limit) { deed in
            guard case .press(let key) = deed else { return }
            let effect = composition.pressed(key)
            take(effect)
            if effect == .sent, let text = composition.sent { try sent(text) }
        }
    }

    private func onScreen(
        hint: String, _ work: @escaping @Sendable (LiveScreen<Composition>) async throws -> Void
    ) async throws {
        let layout = ComposeScreen(in: language, connection: connection, hint: hint)
        let show = { @Sendable (content: Composition, size: Size) in layout.screen(of: content, on: size) }
        try await LiveScreen.show(Composition(in: input.conversation), layOut: show) { screen in
            try await during({
                try await client.follow(conversations: [input.conversation], withMembers: false) { change in
                    try await screen.change { $0.changed(change) }
                }
            }) { try await work(screen) }
        }
    }

    private func take(_ effect: Composition.Effect) {
        switch effect {
        case .edited(let text): input.edited(text)
        case .sent: input.send()
        case .nothing, .leaves, .redraws: break
        }
    }

    /// Plays the script once there is a connection. At the end, ends the typing.
    private func play(
        _ script: Script, for limit: Duration? = nil, _ did: (Act.Deed) async throws -> Void
    ) async throws {
        for await state in client.connection where state.isConnected { break }
        let end = limit.map { ContinuousClock.now + $0 }
        var round = 0
        while script.rounds.map({ round < $0 }) ?? true {
            for act in script.acts {
                try Task.checkCancellation()
                let next = ContinuousClock.now + act.pause
                if let end, next > end { return try await finish(at: end) }
                if act.pause > .zero { try await Task.sleep(until: next) }
                carryOut(act.deed)
                try await did(act.deed)
            }
            round += 1
        }
        await input.sendConfirmed()
    }

    private func finish(at end: ContinuousClock.Instant) async throws {
        try await Task.sleep(until: end)
        await input.sendConfirmed()
    }

    private func carryOut(_ deed: Act.Deed) {
        switch deed {
        case .background: client.setPhase(.background)
        case .foreground: client.setPhase(.active)
        case .idle: client.setState(.idle)
        case .leave: input.disappeared()
        case .enter: input.appeared()
        case .press, .nothing: break
        }
    }
}

/// Runs both at the same time. When one has ended, the other is cancelled.
private func during(
    _ other: @escaping @Sendable () async throws -> Void, _ work: @escaping @Sendable () async throws -> Void
) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await other() }
        group.addTask { try await work() }
        defer { group.cancelAll() }
        try await group.next()
    }
}
