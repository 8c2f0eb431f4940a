// A screen that stays up to date, and a terminal that is left as it was found, however that ends.

import Foundation
import RollcallTerminal

/// Shows some content on the terminal.
actor LiveScreen<Content: Sendable> {
    private let device = TerminalDevice()
    private let painter = TerminalDevice.kind.painter
    private let layOut: @Sendable (Content, Size) -> Screen
    private var content: Content
    /// Whether the terminal is ours now.
    private var isOurs = false
    /// What is on the terminal; `nil` if that is not known.
    private var shown: (screen: Screen, size: Size)?

    private init(_ content: Content, layOut: @escaping @Sendable (Content, Size) -> Screen) {
        self.content = content
        self.layOut = layOut
    }

    /// Has the terminal while `work` goes on.
    ///
    /// - Parameter layOut: what is to be seen of the content on a terminal of that size.
    static func show(
        _ content: Content, layOut: @escaping @Sendable (Content, Size) -> Screen,
        during work: @escaping @Sendable (LiveScreen) async throws -> Void
    ) async throws {
        let screen = LiveScreen(content, layOut: layOut)
        let signals = WindowSignal.all()
        do {
            try await screen.begin()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await work(screen) }
                group.addTask { for await signal in signals { try await screen.happened(signal) } }
                defer { group.cancelAll() }
                try await group.next()
            }
        } catch {
            await screen.end()
            throw error
        }
        await screen.end()
    }

    /// Changes the content, and shows it.
    func change<Result: Sendable>(_ change: @Sendable (inout Content) -> Result) throws -> Result {
        let result = change(&content)
        try update()
        return result
    }

    /// Draws what is to be seen now, if that is not what is there.
    func update() throws {
        guard isOurs else { return }
        let size = device.size
        let screen = layOut(content, size)
        if let shown, shown == (screen, size) { return }
        try Output.raw(painter.drawing(of: screen, on: size))
        shown = (screen, size)
    }

    /// Draws all of it, whatever is there.
    func redraw() throws {
        shown = nil
        try update()
    }

    private func happened(_ signal: WindowSignal) async throws {
        switch signal {
        case .resized:
            try redraw()
        case .suspended:
            end()
            Suspension.stop(by: SIGTSTP)
            try await begin()
        case .resumed:
            // After a stop that could not be foreseen (kill -STOP) the shell has had the terminal, on our screen.
            guard isOurs else { return }
            try await waitForForeground()
            device.takeKeys()
            try redraw()
        }
    }

    private func begin() async throws {
        try await waitForForeground()
        device.takeKeys()
        try Output.raw(Painter.begin)
        isOurs = true
        try redraw()
    }

    private func end() {
        guard isOurs else { return }
        isOurs = false
        // From the background it would be the shell's screen; a shell puts right by itself what it stopped.
        guard TerminalDevice.isInForeground else { return }
        // Where the terminal is gone, there is nothing to put right.
        try? Output.raw(Painter.end)
        device.restore()
    }

    /// In the background the terminal is somebody else's: as any program that wants to read from it, stop until `fg`.
    private func waitForForeground() async throws {
        while !TerminalDevice.isInForeground {
            // A signal that ends the program may be why it goes on.
            try await Task.sleep(for: .milliseconds(100))
            if !TerminalDevice.isInForeground { Suspension.stop(by: SIGTTIN) }
        }
    }
}
