// Workers in columns. Narrow terminals drop the least important columns; the name and the mark always stay.

import RollcallModel

/// The columns for a list of workers, adapted to the width.
struct WorkerTable {
    /// In display order.
    private enum Column: String, CaseIterable {
        case sessions
        case signals = "signals/s"
        case published = "published/s"
        case delivered = "deliveries/s"
        case cpu = "CPU"
        case lease
        case uptime = "up"
        case version
        case host

        /// The columns that may be dropped, least important first.
        static let leastFirst: [Column] = [.host, .version, .uptime, .published, .lease, .cpu, .delivered, .signals]

        var isNumber: Bool { self != .version && self != .host && self != .lease }
    }

    private static let gap = 2
    private static let longestName = 32
    private static let longestHost = 24

    private let time: Timestamp
    private let rates: [String: LiveRates]
    private let name: Int
    private var widths: [(column: Column, width: Int)] = []

    init(_ workers: [LiveFigures.Worker], rates: [String: LiveRates], at time: Timestamp, columns: Int) {
        (self.time, self.rates) = (time, rates)
        let names = (workers.map { Self.shown($0.name) } + ["worker"]).map { Cells.width(of: $0) }
        let widest = min(names.max() ?? 0, Self.longestName)
        var kept = Column.allCases
        var needed: [Column: Int] = [:]
        for column in Column.allCases {
            needed[column] =
                ([column.rawValue] + workers.map { Self.text($0, in: column, rates[$0.name], at: time) })
                .map { Cells.width(of: $0) }.max() ?? 0
        }
        func total() -> Int { 2 + widest + kept.reduce(0) { $0 + Self.gap + (needed[$1] ?? 0) } }
        for column in Column.leastFirst where total() > columns { kept.removeAll { $0 == column } }
        name = max(1, min(widest, columns - (total() - widest)))
        widths = kept.map { ($0, needed[$0] ?? 0) }
    }

    var heading: Line {
        line(Span("worker", .faint, at: 2)) { column in (column.rawValue, .faint) }
    }

    func line(of worker: LiveFigures.Worker) -> Line {
        let (mark, style) = Self.mark(worker)
        var line = line(
            Span(Cells.shortened(Self.shown(worker.name), to: name), worker.isAlive ? .strong : .plain, at: 2)
        ) { column in (Self.text(worker, in: column, rates[worker.name], at: time), column == .lease ? style : .plain) }
        line.spans.insert(Span(mark, style, at: 0), at: 0)
        return line
    }

    private func line(_ first: Span, _ cell: (Column) -> (text: String, style: Style)) -> Line {
        var (line, start) = (Line(first), 2 + name)
        for (column, width) in widths {
            start += Self.gap
            let (text, style) = cell(column)
            let shown = Cells.shortened(text, to: width)
            let indent = column.isNumber ? width - Cells.width(of: shown) : 0
            line.spans.append(Span(shown, style, at: start + indent))
            start += width
        }
        return line
    }

    private static func mark(_ worker: LiveFigures.Worker) -> (String, Style) {
        if !worker.isAlive { return ("○", worker.hasLeft ? .faint : .warning) }
        return worker.isDraining ? ("◐", .away) : ("●", .online)
    }

    private static func shown(_ name: String) -> String { Shown.name(name) ?? "?" }

    private static func text(
        _ worker: LiveFigures.Worker, in column: Column, _ rates: LiveRates?, at time: Timestamp
    ) -> String {
        switch column {
        case .sessions: Figure.count(worker.sessions)
        case .signals: Figure.rate(rates?.signals)
        case .published: Figure.rate(rates?.published)
        case .delivered: Figure.rate(rates?.delivered)
        case .cpu: Figure.percent(rates?.cpu)
        case .lease: lease(of: worker, at: time)
        case .uptime: worker.startedAt.map { time.since($0).spoken } ?? Figure.unknown
        case .version: worker.version.flatMap(Shown.name) ?? Figure.unknown
        case .host: Cells.shortened(worker.host.flatMap(Shown.name) ?? Figure.unknown, to: longestHost)
        }
    }

    private static func lease(of worker: LiveFigures.Worker, at time: Timestamp) -> String {
        guard let end = worker.leaseEnd else { return Figure.unknown }
        if !worker.isAlive { return "\(worker.hasLeft ? "left" : "dead") \(time.since(end).spoken)" }
        return (worker.isDraining ? "draining " : "") + end.since(time).spoken
    }
}
