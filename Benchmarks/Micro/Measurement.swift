// How each operation is measured: together with a floor in each sample, so that a slow or busy machine affects both,
// and by medians, so that occasional disturbances affect neither.

import CAllocations
import Foundation
import Synchronization

/// The floor: what any call costs that looks up shared state, with an uncontended lock and a dictionary lookup.
struct Floor: ~Copyable {
    private let table = Mutex(Dictionary(uniqueKeysWithValues: (0..<64).map { ("c\($0)", $0) }))

    @inline(never)
    func lookUp() -> Int? {
        table.withLock { $0["c42"] }
    }
}

/// The cost of one operation.
struct Measurement {
    /// The number of calls in each sample.
    static let calls = 1000

    let name: String
    /// The median time of a call.
    private(set) var nanoseconds = 0.0
    /// The median of the ratio to the floor in the same sample.
    private(set) var floors = 0.0
    /// The median number of allocations of a call, on the calling thread.
    private(set) var allocations = 0.0

    /// - Parameters:
    ///   - prepare: called before each sample, and not measured.
    ///   - body: the measured operation. Its argument is the index of the call.
    init(_ name: String, samples count: Int, prepare: () -> Void, _ body: (Int) -> Void) {
        self.name = name
        let floor = Floor()
        var samples: [(time: Double, ratio: Double, allocations: Double)] = []
        for _ in 0..<count {
            prepare()
            let least = Self.time { _ in keep(floor.lookUp()) }
            let allocated = allocations_of_thread()
            let time = Self.time(body)
            let count = Double(allocations_of_thread() - allocated)
            samples.append((time, time / least, count / Double(Self.calls)))
        }
        nanoseconds = Self.median(samples.map(\.time))
        floors = Self.median(samples.map(\.ratio))
        allocations = Self.median(samples.map(\.allocations))
    }

    var shownAllocations: String { String(format: "%.1f", allocations) }

    /// Returns the time of a call in nanoseconds.
    private static func time(_ body: (Int) -> Void) -> Double {
        let time = ContinuousClock().measure { for number in 0..<calls { body(number) } }
        return time / .nanoseconds(1) / Double(calls)
    }

    private static func median(_ values: [Double]) -> Double {
        values.sorted()[values.count / 2]
    }
}

/// Keeps the compiler from removing the computation of a value.
@inline(never)
func keep<Value>(_ value: Value) {
    withExtendedLifetime(value) {}
}
