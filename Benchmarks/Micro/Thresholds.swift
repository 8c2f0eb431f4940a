// How many allocations each operation may cause, by a committed table. Every measured operation must have a line and
// every line must be measured, so that none is lost unnoticed.

import Foundation

struct Thresholds {
    struct Unreadable: Error, CustomStringConvertible {
        let line: Substring
        var description: String { "the table has a line that is no number and a new name: \(line)" }
    }

    /// Differences below this are ignored: a table may grow once in a thousand calls.
    private static let margin = 0.1

    private var allowed: [String: Double] = [:]

    /// - Parameter text: a line for each operation: the number of allocations per call, and the name. Lines that begin
    ///   with `#` are comments.
    init(text: String) throws {
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, let number = Double(parts[0]),
                allowed.updateValue(number, forKey: parts[1].trimmingCharacters(in: .whitespaces)) == nil
            else { throw Unreadable(line: line) }
        }
    }

    /// A sentence for each deviation from the table.
    func complaints(about bench: Bench) -> [String] {
        let unmeasured = Set(allowed.keys).subtracting(bench.measurements.map(\.name)).filter(bench.wants)
        return bench.measurements.compactMap(complaint)
            + unmeasured.sorted().map { "“\($0)” has a line, and nothing of that name is measured" }
    }

    /// A sentence for each line whose number can be lowered.
    func savings(of bench: Bench) -> [String] {
        bench.measurements.compactMap { measured in
            guard let most = allowed[measured.name], measured.allocations <= most - Self.margin else { return nil }
            return "“\(measured.name)” allocates \(measured.shownAllocations) times a call by now, so lower its line"
        }
    }

    private func complaint(about measured: Measurement) -> String? {
        let number = measured.shownAllocations
        guard let most = allowed[measured.name] else {
            return "“\(measured.name)” allocates \(number) times a call, and has no line that allows it any number"
        }
        guard measured.allocations >= most + Self.margin else { return nil }
        return "“\(measured.name)” allocates \(number) times a call, and is allowed \(String(format: "%.1f", most))"
    }
}
