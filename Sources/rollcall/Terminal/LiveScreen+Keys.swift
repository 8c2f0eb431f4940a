import Foundation
import RollcallTerminal

extension LiveScreen {
    /// Returns when the user leaves the view, in which other keys do nothing. Without a keyboard it never returns.
    nonisolated func untilLeft() async throws {
        while !TerminalDevice.hasKeyboard { try await Task.sleep(for: .seconds(3600)) }
        let keyboard = Keyboard()
        var decoder = KeyDecoder()
        while let keys = await keyboard.keys(&decoder) {
            if keys.contains(where: { [.leave, .text("q"), .text("Q")].contains($0) }) { return }
            if keys.contains(.redraw) { try await redraw() }
        }
    }
}
