// A list of checks, each with a mark: in aligned columns if there is room, with advice below each finding.

/// A list of check results.
package struct CheckList: Hashable, Sendable {
    /// The result of a check. The word carries the meaning; colours only help.
    package enum Mark: String, CaseIterable, Sendable {
        case ok
        case skipped
        case warning
        case failure

        fileprivate var style: Style {
            switch self {
            case .ok: .online
            case .skipped: .faint
            case .warning: .away
            case .failure: .warning
            }
        }
    }

    package struct Item: Hashable, Sendable {
        package var mark: Mark
        package var title: String
        package var found: String
        package var advice: String?

        package init(_ mark: Mark, _ title: String, _ found: String, advice: String? = nil) {
            (self.mark, self.title, self.found, self.advice) = (mark, title, found, advice)
        }
    }

    package var items: [Item]

    package init(_ items: [Item]) {
        self.items = items
    }

    /// If less room is left for the text, it gets lines of its own below the title.
    private static let leastText = 32
    private static let gap = 2

    /// Returns the lines, each at most this many columns wide, and a last one with the counts.
    package func lines(columns: Int) -> [Line] {
        let marks = Mark.allCases.map(\.rawValue.count).max() ?? 0
        let titles = items.map { Cells.width(of: $0.title) }.max() ?? 0
        let title = marks + Self.gap
        let text = title + titles + Self.gap
        let isNarrow = columns - text < Self.leastText
        return items.flatMap { item in
            lines(of: item, title: title, text: isNarrow ? Self.gap : text, isNarrow: isNarrow, columns)
        } + [Line(), Line(Span(Cells.shortened(summary, to: columns), .strong))]
    }

    private func lines(of item: Item, title: Int, text: Int, isNarrow: Bool, _ columns: Int) -> [Line] {
        let head = Line(
            Span(item.mark.rawValue, item.mark.style),
            Span(Cells.shortened(Shown.text(item.title), to: max(1, columns - title)), at: title))
        let advice = item.advice.map { indented("→ ", $0, from: text, columns, .strong) } ?? []
        var body = indented("", item.found, from: text, columns, .plain)
        guard !isNarrow, let first = body.first else { return [head] + body + advice }
        body[0] = Line(spans: head.spans + first.spans)
        return body + advice
    }

    private func indented(_ sign: String, _ text: String, from start: Int, _ columns: Int, _ style: Style) -> [Line] {
        let room = max(1, columns - start - Cells.width(of: sign))
        return Cells.wrapped(Shown.text(text), to: room).enumerated().map { number, part in
            let blank = String(repeating: " ", count: Cells.width(of: sign))
            return Line(Span((number == 0 ? sign : blank) + part, style, at: start))
        }
    }

    private var summary: String {
        let counts = Mark.allCases.reversed().compactMap { mark -> String? in
            let count = items.count { $0.mark == mark }
            return count == 0 ? nil : "\(count) \(count == 1 ? mark.rawValue : mark.plural)"
        }
        return counts.joined(separator: ", ")
    }
}

extension CheckList.Mark {
    fileprivate var plural: String {
        switch self {
        case .ok, .skipped: rawValue
        case .warning, .failure: rawValue + "s"
        }
    }
}
