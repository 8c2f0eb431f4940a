// The live view of `rollcall watch`: one part for each conversation, then the users who are watched directly.

package import RollcallClient

/// Lays out what is watched.
package struct WatchScreen: Sendable {
    package let wording: Wording
    package let connection: ConnectionText

    package init(in language: Language, connection: ConnectionText) {
        wording = Wording(in: language)
        self.connection = connection
    }

    /// - Parameter now: the time on the worker's clock.
    package func screen(of watched: Watched, at now: Timestamp?, on size: Size) -> Screen {
        let table = PeopleTable(
            wording, at: now, people: watched.people + watched.conversations.flatMap(watched.people(of:)),
            columns: size.columns)
        var lines = header(watched, size) + [Line()]
        for conversation in watched.conversations {
            lines += part(of: conversation, in: watched, table, size)
        }
        lines += watched.people.map(table.line)
        while lines.last == Line() { lines.removeLast() }
        return Screen(lines: Self.fitting(lines, on: size))
    }

    /// The connection's state. Problems are shown in full, because they say what to do.
    private func header(_ watched: Watched, _ size: Size) -> [Line] {
        let state = connection.sentence(for: watched.connection) ?? "connecting"
        guard !watched.connection.isConnected else {
            return [Line(Span(Cells.shortened(state, to: size.columns), .faint))]
        }
        return Cells.wrapped(state, to: size.columns).map { Line(Span($0, .warning)) }
    }

    private func part(of conversation: ConversationID, in watched: Watched, _ table: PeopleTable, _ size: Size)
        -> [Line]
    {
        let name = Cells.shortened(Shown.name(conversation.text) ?? "?", to: size.columns)
        var title = Line(Span(name, .strong))
        if let members = watched.members[conversation], members.count > 0 {
            let room = size.columns - Cells.width(of: name) - 2
            title.spans.append(Span("  " + Cells.shortened(wording.count(of: members), to: room), .faint))
        }
        let typing = watched.typing[conversation] ?? Typing(conversation: conversation)
        return [title, line(of: typing, size)] + watched.people(of: conversation).map(table.line) + [Line()]
    }

    /// The typing line. It exists even if no user is typing, so that the lines below do not move.
    private func line(of typing: Typing, _ size: Size) -> Line {
        if let refusal = typing.refusal {
            return Line(Span(Cells.shortened("  " + wording.refusal(refusal), to: size.columns), .warning))
        }
        return Line(Span(Cells.shortened("  " + wording.typing(typing), to: size.columns)))
    }

    /// Returns as many lines as there are rows. If there are too many lines, the empty ones are dropped first; then the
    /// last line says how many more there are.
    private static func fitting(_ lines: [Line], on size: Size) -> [Line] {
        guard lines.count > size.rows else { return lines }
        let lines = lines.filter { $0 != Line() }
        guard lines.count > size.rows else { return lines }
        let shown = max(0, size.rows - 1)
        let rest = "… \(lines.count - shown) more lines; a taller window shows them"
        return lines.prefix(shown) + [Line(Span(Cells.shortened(rest, to: size.columns), .faint))]
    }
}
