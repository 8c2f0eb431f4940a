// Users in columns: dot, name, identifier, state, last seen. Narrow terminals drop columns: first the identifier, then
// the time, then the state, which the dot also shows.

import RollcallClient

/// The columns for a list of users, adapted to the width.
struct PeopleTable {
    private enum Column: CaseIterable {
        case identifier
        case lastSeen
        case state
    }

    private static let margin = 2
    private static let gap = 2
    private static let longestName = 32

    private let wording: Wording
    private let now: Timestamp?
    /// The maximum width of the name.
    private let name: Int
    /// Where the other columns begin. Dropped columns are absent.
    private var starts: [Column: (at: Int, width: Int)] = [:]

    init(_ wording: Wording, at now: Timestamp?, people: [Person], columns: Int) {
        self.wording = wording
        self.now = now
        // Before the name come the margin, the dot and a space.
        let start = Self.margin + 2
        func widest(_ text: (Person) -> String) -> Int { people.map { Cells.width(of: text($0)) }.max() ?? 0 }
        name = max(1, min(widest(\.title), Self.longestName, columns - start))
        let widths: [Column: Int] = [
            .identifier: min(widest { $0.name == nil ? "" : $0.identifier }, Self.longestName),
            .state: widest(wording.state), .lastSeen: widest { wording.lastSeen(of: $0, at: now) },
        ]
        var room = columns - start - name
        var kept = Column.allCases.filter { widths[$0, default: 0] > 0 }
        func needed(_ columns: [Column]) -> Int { columns.reduce(0) { $0 + widths[$1, default: 0] + Self.gap } }
        while !kept.isEmpty, needed(kept) > room { kept.removeFirst() }
        room = start + name
        for column in [Column.identifier, .state, .lastSeen] where kept.contains(column) {
            starts[column] = (room + Self.gap, widths[column, default: 0])
            room += Self.gap + widths[column, default: 0]
        }
    }

    func line(of person: Person) -> Line {
        var line = Line(
            Span(person.dot.symbol, person.dot.style, at: Self.margin),
            Span(Cells.shortened(person.title, to: name), person.dot == .grey ? .plain : .strong, at: Self.margin + 2))
        add(person.name == nil ? "" : person.identifier, .faint, in: .identifier, to: &line)
        add(wording.state(of: person), person.dot.style, in: .state, to: &line)
        add(wording.lastSeen(of: person, at: now), .faint, in: .lastSeen, to: &line)
        return line
    }

    private func add(_ text: String, _ style: Style, in column: Column, to line: inout Line) {
        guard let start = starts[column], !text.isEmpty else { return }
        line.spans.append(Span(Cells.shortened(text, to: start.width), style, at: start.at))
    }
}
