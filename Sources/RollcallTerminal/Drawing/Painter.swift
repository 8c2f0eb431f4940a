// From a screen to the bytes that draw it. Only sequences that every terminal of the last decades knows are used.
//
// The terminal does not wrap lines while we draw, so a text that turns out wider than was thought loses its end and moves
// nothing else; and it remembers itself where the cursor belongs, since only it knows how wide it drew what stands before.

/// Draws screens.
package struct Painter: Hashable, Sendable {
    package let usesColours: Bool

    package init(usesColours: Bool) {
        self.usesColours = usesColours
    }

    /// Takes the terminal over: the other screen, so that the person's own lines come back; no wrapping; and what is
    /// pasted marked as such.
    package static let begin = "\u{1B}[?1049h\u{1B}[?7l\u{1B}[?2004h"
    /// Gives it back, empty where there is no other screen.
    package static let end = "\u{1B}[H\u{1B}[2J\u{1B}[?2004l\u{1B}[?7h\u{1B}[0m\u{1B}[?25h\u{1B}[?1049l"

    /// Draws a screen over what is there, as far as the terminal has rows for it.
    package func drawing(of screen: Screen, on size: Size) -> String {
        var bytes = "\u{1B}[?25l\u{1B}[H"
        let lines = screen.lines.prefix(max(1, size.rows))
        for (number, line) in lines.enumerated() {
            if number > 0 { bytes += "\r\n" }
            let cursor = screen.cursor.flatMap { $0.line == number ? $0.span : nil }
            // Cleared before and not after: at the edge, that would take the last cell.
            bytes += "\u{1B}[2K" + drawing(of: line, cursor: cursor)
        }
        if lines.count < size.rows { bytes += "\r\n\u{1B}[J" }
        let shows = screen.cursor.map { $0.line < lines.count } ?? false
        return shows ? bytes + "\u{1B}8\u{1B}[?25h" : bytes
    }

    /// A line as it is printed, rather than drawn over another: columns are reached by blanks.
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
