// What a terminal shows, as a value: lines of pieces. A piece may say in which column it begins, so that a table stays
// straight whatever a terminal thinks of the width of a name before it.

/// How a piece of text looks. What it means is never told by colour alone.
package enum Style: Hashable, Sendable, CaseIterable {
    case plain
    case strong
    case faint
    case online
    case away
    case offline
    case warning
}

/// A piece of a line.
package struct Span: Hashable, Sendable {
    package var text: String
    package var style: Style
    /// Where it begins, counted from 0; `nil`: after the one before it.
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

    /// The line as it reads.
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

/// All that is to be seen.
package struct Screen: Hashable, Sendable {
    /// A place before a piece of a line.
    package struct Cursor: Hashable, Sendable {
        package var line: Int
        package var span: Int

        package init(line: Int, span: Int) {
            self.line = line
            self.span = span
        }
    }

    package var lines: [Line]
    /// Where the cursor stands; `nil`: it is hidden.
    package var cursor: Cursor?

    package init(lines: [Line] = [], cursor: Cursor? = nil) {
        self.lines = lines
        self.cursor = cursor
    }

    /// The screen as it reads.
    package var text: String { lines.map(\.text).joined(separator: "\n") }
}
