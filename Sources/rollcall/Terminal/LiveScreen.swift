// A screen that is kept up to date. The terminal is always restored, even after errors.

import Foundation
import RollcallTerminal

/// Shows content on the terminal.
actor LiveScreen<Content: Sendable> {
    private let device = TerminalDevice()
    private let painter = TerminalDevice.kind.painter
    private let layOut: @Sendable (Content, Size) -> Screen
    private var content: Content
    /// Whether this process has prepared the terminal and draws on it.
    private var isOurs = false
    /// What is on the terminal; `nil` if unknown.
    private var shown: (screen: Screen, size: Size)?

    private init(_ content: Content, layOut: @escaping @Sendable (Content, Size) -> Screen) {
        self.content = content
        self.layOut = layOut
    }

    /// Uses the terminal while `work` runs.
    ///
    /// - Parameter layOut: returns the screen for the content on a terminal of this size.
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

    /// Draws the screen if it differs from what is on the terminal.
    func update() throws {
        guard isOurs else { return }
        let size = device.size
        let screen = layOut(content, size)
        if let shown, shown == (screen, size) { return }
        try Output.raw(painter.drawing(of: screen, on: size))
        shown = (screen, size)
    }

    /// Draws the whole screen, whatever is on the terminal.
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
            // After an unexpected stop (kill -STOP), the shell has used the terminal, on the alternate screen.
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
        // In the background the terminal belongs to the shell, which restores its settings itself.
        guard TerminalDevice.isInForeground else { return }
        // If the terminal is gone, there is nothing to restore.
        try? Output.raw(Painter.end)
        device.restore()
    }

    /// Waits while another process uses the terminal: like any program that wants to read from it, stops until `fg`.
    private func waitForForeground() async throws {
        while !TerminalDevice.isInForeground {
            // The task may be cancelled here, if the process continues because of a signal that ends it.
            try await Task.sleep(for: .milliseconds(100))
            if !TerminalDevice.isInForeground { Suspension.stop(by: SIGTTIN) }
        }
    }
}
