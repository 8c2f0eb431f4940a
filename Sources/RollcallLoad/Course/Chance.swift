// Reproducible random numbers: the same seed gives the same course.

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The generator SplitMix64.
package struct Chance: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// Returns the time until the next event of a Poisson process with this mean interval. Independent events of many
    /// people form such a process.
    package mutating func wait(mean: Duration) -> Duration {
        mean * -log(1 - Double.random(in: 0..<1, using: &self))
    }
}
