import Foundation

/// Chance that can be had again: SplitMix64 from a seed that a failing test prints.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// Runs a randomised test from a seed of its own and prints it. `ROLLCALL_SEED` runs it from that one again.
func randomised(_ what: String, _ body: (inout SeededGenerator) throws -> Void) rethrows {
    let given = ProcessInfo.processInfo.environment["ROLLCALL_SEED"].flatMap { UInt64($0) }
    let seed = given ?? .random(in: 0...UInt64(UInt32.max))
    print("\(what): seed \(seed)")
    var random = SeededGenerator(seed: seed)
    try body(&random)
}
