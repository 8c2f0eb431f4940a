internal import Foundation

/// A reproducible random generator: SplitMix64 with a seed that a failing test prints.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) {
        state = seed
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// Returns a seed and prints it: the one in the environment variable `SEED`, to repeat a run, or else a new one in
/// `make soak`, and always the same in `make test`.
public func printedSeed(_ test: String = #function) -> UInt64 {
    let given = ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) }
    let seed = given ?? (isSoaking ? .random(in: 0...UInt64(UInt32.max)) : 1)
    print("\(test): SEED=\(seed)")
    return seed
}

/// Runs a randomised test with a ``printedSeed(_:)``.
public func randomised(_ test: String, _ body: (inout SeededGenerator) throws -> Void) rethrows {
    var random = SeededGenerator(seed: printedSeed(test))
    try body(&random)
}
