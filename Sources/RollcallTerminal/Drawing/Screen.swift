// The content of a terminal as a value: lines of spans. A span may state its column, so that tables stay aligned even
// if the terminal draws a name wider or narrower than computed.

/// How a span looks. Its meaning never depends on colour alone.
package enum Style: Hashable, Sendable, CaseIterable {
    case plain
    case strong
    case faint
    case online
    case away
    case offline
    case warning
}

/// Part of a line.
package struct Span: Hashable, Sendable {
    package var text: String
    package var style: Style
    /// The column at which the span begins, from 0; `nil` for directly after the previous one.
    package var column: Int?

    package init(_ text: String, _ style: Style = .plain, at column: Int? = nil) {
        self.text = text
        self.style = style
        self.column = column
    }
}

/// A line of the screen.
package struct Line: Hashable, Sendable {
    package var spans: [Span]

    package init(_ spans: Span...) {
        self.spans = spans
    }

    package init(spans: [Span]) {
        self.spans = spans
    }

    /// The line as plain text.
    package var text: String {
        spans.reduce(into: "") { text, span in
            if let column = span.column {
                text += String(repeating: " ", count: max(0, column - Cells.width(of: text)))
            }
            text += span.text
        }
    }
}

/// The size of a terminal, in cells.
package struct Size: Hashable, Sendable {
    package var columns: Int
    package var rows: Int

    package init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }
}

/// The whole content of a terminal.
package struct Screen: Hashable, Sendable {
    /// A position before a span of a line.
    package struct Cursor: Hashable, Sendable {
        package var line: Int
        package var span: Int

        package init(line: Int, span: Int) {
            self.line = line
            self.span = span
        }
    }

    package var lines: [Line]
    /// The position of the cursor; `nil` if it is hidden.
    package var cursor: Cursor?

    package init(lines: [Line] = [], cursor: Cursor? = nil) {
        self.lines = lines
        self.cursor = cursor
    }

    /// The screen as plain text.
    package var text: String { lines.map(\.text).joined(separator: "\n") }
}
