// The results of a workload, over all rounds.

import Foundation

/// All rounds of one workload.
struct Row: Encodable {
    let name: String
    let unit: String
    let target: Target
    /// Empty if there is no floor.
    var floor: [Sample] = []
    var rollcall: [Sample] = []

    /// The median of each round's ratio, so that a slow moment of the machine affects both sides; `nil` without a
    /// floor.
    var ratio: Double? {
        floor.isEmpty ? nil : median(zip(rollcall, floor).map { $0.value / $1.value })
    }

    var isReached: Bool {
        switch target {
        case .ratio(let most): (ratio ?? .infinity) <= most
        case .value(let most): median(rollcall.map(\.value)) <= most
        }
    }

    /// The row of a Markdown table.
    var line: String {
        let wanted =
            switch target {
            case .ratio(let most): "≤ \(Self.text(most)) ×"
            case .value(let most): "≤ \(Self.text(most)) \(unit)"
            }
        let figures = [floor, rollcall].map { samples in
            samples.isEmpty ? "" : "\(Self.text(median(samples.map(\.value)))) \(unit)"
        }
        return "| "
            + ([name] + figures + [ratio.map { "\(Self.text($0)) ×" } ?? "", wanted, isReached ? "yes" : "no", details])
            .joined(separator: " | ") + " |"
    }

    static let head = """
        | workload | floor | Rollcall | ratio | target | reached | besides: floor, Rollcall |
        |---|---:|---:|---:|---:|---|---|
        """

    private var details: String {
        guard let first = rollcall.first else { return "" }
        return first.details.keys.sorted().map { key in
            let sides = [floor, rollcall].map { $0.compactMap { $0.details[key] } }.filter { !$0.isEmpty }
            return key + " " + sides.map { Self.text(median($0)) }.joined(separator: ", ")
        }.joined(separator: "; ")
    }

    static func text(_ value: Double) -> String {
        value.formatted(.number.precision(.significantDigits(3)).grouping(.never))
    }
}

func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return .nan }
    return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
}

/// The smallest value that this fraction (0 to 1) of all values do not exceed.
func percentile(_ part: Double, of values: [Double]) -> Double {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return .nan }
    return sorted[max(0, Int((Double(sorted.count) * part).rounded(.up)) - 1)]
}
