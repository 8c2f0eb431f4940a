// The live view of `rollcall top`: the state of the connection, sums with the last minute of each, the workers, the
// busiest conversations, and recent events. What does not fit is left out from the end, but workers are always shown.

import RollcallModel

/// Lays out the state of the workers.
package struct TopScreen: Sendable {
    package init() {}

    package func screen(of board: TopBoard, on size: Size) -> Screen {
        guard let figures = board.figures else {
            return Screen(lines: header(board, size))
        }
        let head = header(board, size)
        let sums = sums(board, size)
        let workers = workers(figures, board, size)
        let conversations = conversations(figures, size)
        let events = events(figures, size)
        return Screen(lines: Self.fitting(head + sums, workers, [conversations, events], rows: size.rows))
    }

    // MARK: Parts

    private func header(_ board: TopBoard, _ size: Size) -> [Line] {
        guard let trouble = board.trouble else {
            guard let figures = board.figures else { return [Line(Span("asking \(board.address)", .faint))] }
            return [line(state(figures, board), figures.isReady && figures.redis.isUp ? .faint : .warning, size)]
        }
        let length = trouble.until.since(trouble.since).spoken
        let news = board.figures == nil ? "" : " What is shown is what was last known."
        return Cells.wrapped("No answer for \(length): \(Shown.text(trouble.sentence)).\(news)", to: size.columns)
            .map { Line(Span($0, .warning)) }
    }

    private func state(_ figures: LiveFigures, _ board: TopBoard) -> String {
        let redis = figures.redis
        let latency = "p50 \(Figure.milliseconds(redis.median)), p99 \(Figure.milliseconds(redis.slow))"
        return [
            Shown.name(figures.worker) ?? "?", figures.isReady ? "ready" : "not ready",
            redis.isUp ? "Redis \(latency)" : "Redis is away", board.address,
        ].joined(separator: " · ")
    }

    private func sums(_ board: TopBoard, _ size: Size) -> [Line] {
        let (total, history) = (board.total, board.history)
        let alive = (board.figures?.workers ?? []).count { $0.isAlive }
        let rows: [(name: String, value: String, history: Sparkline?)] = [
            ("workers", Figure.count(Int64(alive)), nil), ("sessions", Figure.count(board.sessions), history.sessions),
            ("signals/s", Figure.rate(total.signals), history.signals),
            ("published/s", Figure.rate(total.published), history.published),
            ("deliveries/s", Figure.rate(total.delivered), history.delivered),
        ]
        let names = rows.map(\.name.count).max() ?? 0
        let values = rows.map { Cells.width(of: $0.value) }.max() ?? 0
        let bars = names + 2 + values + 2
        return [Line()]
            + rows.map { row in
                var line = Line(
                    Span(row.name, .faint), Span(row.value, .strong, at: bars - 2 - Cells.width(of: row.value)))
                let room = max(0, size.columns - bars)
                let (text, style): (String, Style) =
                    row.history.map { ($0.text(cells: min(60, room)), .online) }
                    ?? (Cells.shortened(board.gone, to: room), .warning)
                if !text.isEmpty { line.spans.append(Span(text, style, at: bars)) }
                return line
            }
    }

    private func workers(_ figures: LiveFigures, _ board: TopBoard, _ size: Size) -> [Line] {
        guard figures.redis.isUp || !figures.workers.isEmpty else {
            return [line("While Redis is away, the workers are not known.", .faint, size)]
        }
        let table = WorkerTable(figures.workers, rates: board.rates, at: figures.time, columns: size.columns)
        // Dead workers come first: they matter most, and a low terminal cuts off the end.
        let sorted = figures.workers.filter { !$0.isAlive && !$0.hasLeft } + figures.workers.filter(\.isAlive)
        return [table.heading] + (sorted + figures.workers.filter(\.hasLeft)).map(table.line)
    }

    private func conversations(_ figures: LiveFigures, _ size: Size) -> [Line] {
        guard !figures.conversations.isEmpty else { return [] }
        let names = figures.conversations.map { Shown.name($0.name) ?? "?" }
        let counts = figures.conversations.map { "\($0.typing) typing, \($0.joined) joined here" }
        let widest = counts.map { Cells.width(of: $0) }.max() ?? 0
        let longest = min(names.map { Cells.width(of: $0) }.max() ?? 0, 64)
        let name = min(longest, max(8, size.columns - widest - 2))
        return [line("busiest conversations", .faint, size)]
            + zip(names, counts).map { pair in
                let room = max(0, size.columns - name - 2)
                return Line(
                    Span(Cells.shortened(pair.0, to: min(name, size.columns))),
                    Span(Cells.shortened(pair.1, to: room), at: name + 2))
            }
    }

    private func events(_ figures: LiveFigures, _ size: Size) -> [Line] {
        guard !figures.events.isEmpty else { return [] }
        return [line("events of \(Shown.name(figures.worker) ?? "?")", .faint, size)]
            + figures.events.map { event in
                let now = figures.hostTime ?? figures.time
                let facts = event.facts.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
                let times = event.times > 1 ? ["(\(event.times) times)"] : []
                let words = ["\(now.since(event.at).spoken) ago", event.level, event.message] + times + facts
                return line(words.joined(separator: "  "), Self.style(event.level), size)
            }
    }

    private static func style(_ level: String) -> Style {
        ["warning", "error", "critical"].contains(level) ? .warning : .plain
    }

    private func line(_ text: String, _ style: Style, _ size: Size) -> Line {
        Line(Span(Cells.shortened(Shown.text(text), to: size.columns), style))
    }
}

extension TopScreen {
    /// Returns as many lines as there are rows. The parts after the workers share what is left: the first gets half of
    /// it, or more if the next needs less.
    private static func fitting(_ head: [Line], _ workers: [Line], _ parts: [[Line]], rows: Int) -> [Line] {
        let room = rows - head.count - 1
        // A part of which only the title fits is omitted.
        guard room >= 2 else { return Array((head + [Line()] + workers).prefix(max(1, rows))) }
        var lines = head + [Line()] + cut(workers, to: room, "workers")
        for (number, part) in parts.enumerated() where !part.isEmpty {
            let left = rows - lines.count - 1
            let isLast = number == parts.count - 1 || parts[(number + 1)...].allSatisfy(\.isEmpty)
            let share = isLast ? left : max(left / 2, left - (parts[number + 1].count + 1))
            guard share >= 2 else { continue }
            lines += [Line()] + part.prefix(share)
        }
        return lines
    }

    private static func cut(_ lines: [Line], to room: Int, _ what: String) -> [Line] {
        guard lines.count > room else { return lines }
        return lines.prefix(room - 1) + [Line(Span("… \(lines.count - room + 1) more \(what)", .faint))]
    }
}
