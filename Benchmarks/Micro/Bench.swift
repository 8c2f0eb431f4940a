// One run: the selected rows, measured one by one and printed at once.

import CAllocations
import Foundation

struct Bench {
    private let only: Regex<AnyRegexOutput>?
    private let samples: Int
    private(set) var measurements: [Measurement] = []

    init(only: String?, samples: Int) throws {
        self.only = try only.map { try Regex($0) }
        self.samples = samples
        print("| what | median | × floor | allocations |\n|---|---:|---:|---:|")
    }

    func wants(_ name: String) -> Bool {
        only.map { name.contains($0) } ?? true
    }

    /// Measures and prints a row, if it is selected.
    ///
    /// - Parameters:
    ///   - prepare: called before each sample, and not measured.
    ///   - body: the measured operation. Its argument is the index of the call.
    mutating func row(_ name: String, prepare: () -> Void = {}, _ body: (Int) -> Void) {
        guard wants(name) else { return }
        let measured = Measurement(name, samples: samples, prepare: prepare, body)
        measurements.append(measured)
        let allocations = allocations_are_counted() ? measured.shownAllocations : "not counted"
        print(
            "| \(name) |", String(format: "%.0f ns | %.1f |", measured.nanoseconds, measured.floors),
            "\(allocations) |")
    }
}
