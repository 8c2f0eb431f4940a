// Converts a screen to the bytes that draw it, using only sequences that nearly every terminal supports.
//
// The terminal does not wrap lines during drawing. If a text is wider than computed, its end is cut off and nothing
// else moves. The terminal itself saves the cursor position, since only it knows how wide it drew the text before the
// cursor.

/// Draws screens.
package struct Painter: Hashable, Sendable {
    package let usesColours: Bool

    package init(usesColours: Bool) {
        self.usesColours = usesColours
    }

    /// Prepares the terminal: switches to the alternate screen, so that the previous content comes back later, disables
    /// wrapping, and enables bracketed paste.
    package static let begin = "\u{1B}[?1049h\u{1B}[?7l\u{1B}[?2004h"
    /// Restores the terminal. A terminal without an alternate screen is cleared.
    package static let end = "\u{1B}[H\u{1B}[2J\u{1B}[?2004l\u{1B}[?7h\u{1B}[0m\u{1B}[?25h\u{1B}[?1049l"

    /// Returns the bytes that draw a screen over the previous one, as far as there are rows.
    package func drawing(of screen: Screen, on size: Size) -> String {
        var bytes = "\u{1B}[?25l\u{1B}[H"
        let lines = screen.lines.prefix(max(1, size.rows))
        for (number, line) in lines.enumerated() {
            if number > 0 { bytes += "\r\n" }
            let cursor = screen.cursor.flatMap { $0.line == number ? $0.span : nil }
            // The line is cleared before it is drawn. Clearing it afterwards would erase the last cell of a full line.
            bytes += "\u{1B}[2K" + drawing(of: line, cursor: cursor)
        }
        if lines.count < size.rows { bytes += "\r\n\u{1B}[J" }
        let shows = screen.cursor.map { $0.line < lines.count } ?? false
        return shows ? bytes + "\u{1B}8\u{1B}[?25h" : bytes
    }

    /// Returns a line for printing instead of drawing: columns are reached with spaces.
    package func printing(of line: Line) -> String {
        var width = 0
        return line.spans.reduce(into: "") { bytes, span in
            let blanks = max(0, (span.column ?? width) - width)
            bytes += String(repeating: " ", count: blanks) + drawing(of: span)
            width += blanks + Cells.width(of: span.text)
        }
    }

    private func drawing(of line: Line, cursor: Int?) -> String {
        var bytes = ""
        for (number, span) in line.spans.enumerated() {
            if cursor == number { bytes += "\u{1B}7" }
            if let column = span.column { bytes += "\u{1B}[\(column + 1)G" }
            bytes += drawing(of: span)
        }
        return cursor == line.spans.count ? bytes + "\u{1B}7" : bytes
    }

    private func drawing(of span: Span) -> String {
        let text = Shown.sentence(span.text)
        guard usesColours, let colour = Self.colour(of: span.style), !text.isEmpty else { return text }
        return "\u{1B}[\(colour)m\(text)\u{1B}[0m"
    }

    private static func colour(of style: Style) -> Int? {
        switch style {
        case .plain: nil
        case .strong: 1
        case .faint, .offline: 2
        case .online: 32
        case .away: 33
        case .warning: 31
        }
    }
}
