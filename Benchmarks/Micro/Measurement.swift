// How each thing is measured: beside a floor, sample by sample, so that a slow or busy machine changes both; and by
// medians, so that what the machine does now and then changes neither.

import CAllocations
import Foundation
import Synchronization

/// What any call costs that looks something up where other threads might too: a lock without contention, and a look-up
/// in a dictionary.
struct Floor: ~Copyable {
    private let table = Mutex(Dictionary(uniqueKeysWithValues: (0..<64).map { ("c\($0)", $0) }))

    @inline(never)
    func lookUp() -> Int? {
        table.withLock { $0["c42"] }
    }
}

/// What one thing costs.
struct Measurement {
    /// In each sample.
    static let calls = 1000

    let name: String
    /// The median of a call.
    private(set) var nanoseconds = 0.0
    /// The median of its ratio to the floor in the same sample.
    private(set) var floors = 0.0
    /// Of one call, on the calling thread.
    private(set) var allocations = 0.0

    /// - Parameters:
    ///   - prepare: what is done before each sample, and not measured.
    ///   - body: told the number of the call.
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

    /// Nanoseconds a call.
    private static func time(_ body: (Int) -> Void) -> Double {
        let time = ContinuousClock().measure { for number in 0..<calls { body(number) } }
        return time / .nanoseconds(1) / Double(calls)
    }

    private static func median(_ values: [Double]) -> Double {
        values.sorted()[values.count / 2]
    }
}

/// Makes the compiler believe that a value is used.
@inline(never)
func keep<Value>(_ value: Value) {
    withExtendedLifetime(value) {}
}
