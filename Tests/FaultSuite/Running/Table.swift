// The results for people to read.

/// A table of rows, as text or as Markdown.
public struct Table {
    private let rows: [Row]

    public init(_ rows: [Row]) {
        self.rows = rows
    }

    public var isEmpty: Bool { rows.isEmpty }
    public var isBroken: Bool { rows.contains { $0.rounds.contains(where: \.isBroken) } }

    private static let timed: [(Promise, String)] = [
        (.offline, "offline"), (.typing, "typing over"), (.convergence, "converged"), (.change, "next change"),
    ]
    private static let header = ["fault", "rounds"] + timed.map(\.1) + ["verdict"]

    /// One line for each row, with aligned columns.
    public var text: String {
        let cells = [Self.header] + rows.map(Self.cells(of:))
        let widths = Self.header.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
        return cells.map { line in
            zip(line, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: "  ")
        }.joined(separator: "\n")
    }

    public var markdown: String {
        let lines = [Self.header, Self.header.map { _ in "---" }] + rows.map(Self.cells(of:))
        return lines.map { "| " + $0.joined(separator: " | ") + " |" }.joined(separator: "\n")
    }

    /// Other counts, one line each.
    public var figures: [String] {
        rows.flatMap { row in
            let figures = row.rounds.reduce(into: [:]) { $0.merge($1.figures) { max($0, $1) } }
            return figures.sorted { $0.key < $1.key }.map {
                "\(row.fault): \($0.key): \(Self.digits($0.value))"
            }
        }
    }

    private static func cells(of row: Row) -> [String] {
        let repeated = row.repeated.isEmpty ? "" : " (+\(row.repeated.count))"
        let ground = row.redis.map { "on \($0): " } ?? ""
        let broken = Promise.allCases.compactMap { promise in
            let count = row.rounds.count { $0.outcomes[promise.rawValue]?.broken.isEmpty == false }
            return count == 0 ? nil : "\(promise) \(count)×"
        }
        return ["\(ground)\(row.group): \(row.fault)", "\(row.rounds.count)\(repeated)"]
            + timed.map { time(of: $0.0, in: row) }
            + [broken.isEmpty ? "holds" : "BROKEN: " + broken.joined(separator: ", ")]
    }

    /// The worst time, and the limit.
    private static func time(of promise: Promise, in row: Row) -> String {
        let outcomes = row.rounds.compactMap { $0.outcomes[promise.rawValue] }
        guard let worst = outcomes.compactMap(\.seconds).max(), let limit = outcomes.compactMap(\.limit).max() else {
            return ""
        }
        return "\(digits(worst)) of \(digits(limit))"
    }

    private static func digits(_ seconds: Double) -> String {
        let hundredths = Int((seconds * 100).rounded())
        let fraction = hundredths % 100
        return "\(hundredths / 100)" + (fraction == 0 ? "" : ".\(fraction < 10 ? "0" : "")\(fraction)")
    }
}
