// The screen of `rollcall type`: the input field, with other users' typing above it. Low terminals drop the least
// important rows.

package import RollcallClient

/// Lays out a composition.
package struct ComposeScreen: Sendable {
    package let wording: Wording
    package let connection: ConnectionText
    /// The line below the field: what the keys do, or that a script types.
    package let hint: String

    package static let keys = "Enter sends · Esc clears · Ctrl-C leaves"
    private static let prompt = "› "

    package init(in language: Language, connection: ConnectionText, hint: String = keys) {
        wording = Wording(in: language)
        self.connection = connection
        self.hint = hint
    }

    package func screen(of composition: Composition, on size: Size) -> Screen {
        // The lines in screen order, each with the number of rows from which it is shown.
        var all = [
            (line: header(composition), from: 3), (line: sent(composition), from: 4),
            (line: typing(composition), from: 2),
            (line: field(composition, size), from: 1), (line: Line(), from: 6),
            (line: Line(Span(hint, .faint)), from: 5),
        ]
        // Problems are shown in full, because they say what to do.
        for (number, line) in problem(composition, size).enumerated() { all.append((line, from: 7 + number)) }
        let shown = all.filter { $0.from <= max(1, size.rows) }
        return Screen(
            lines: shown.map { $0.from == 1 ? $0.line : Self.shortened($0.line, size) },
            cursor: shown.firstIndex { $0.from == 1 }.map { Screen.Cursor(line: $0, span: 2) })
    }

    private func header(_ composition: Composition) -> Line {
        let name = Shown.name(composition.conversation.text) ?? "?"
        let state = connection.sentence(for: composition.connection) ?? "connecting"
        let style: Style = composition.connection.isConnected ? .faint : .warning
        return Line(Span(name, .strong), Span("  "), Span(composition.aside ?? Shown.text(state), style))
    }

    private func problem(_ composition: Composition, _ size: Size) -> [Line] {
        guard !composition.connection.isConnected, let state = connection.sentence(for: composition.connection) else {
            return []
        }
        return [Line()] + Cells.wrapped(state, to: size.columns).map { Line(Span($0, .warning)) }
    }

    private func sent(_ composition: Composition) -> Line {
        Line(Span(composition.sent.map { "sent: \($0)" } ?? "", .faint))
    }

    private func typing(_ composition: Composition) -> Line {
        if let refusal = composition.typing.refusal { return Line(Span(wording.refusal(refusal), .warning)) }
        return Line(Span(wording.typing(composition.typing)))
    }

    private func field(_ composition: Composition, _ size: Size) -> Line {
        let window = composition.field.window(of: size.columns - Cells.width(of: Self.prompt))
        return Line(Span(Self.prompt, .strong), Span(window.before), Span(window.after))
    }

    private static func shortened(_ line: Line, _ size: Size) -> Line {
        var room = size.columns
        let spans = line.spans.map { span in
            let text = Cells.shortened(span.text, to: room)
            room -= Cells.width(of: text)
            return Span(text, span.style)
        }
        return Line(spans: spans)
    }
}
