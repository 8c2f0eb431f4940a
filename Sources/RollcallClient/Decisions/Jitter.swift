// The random numbers that keep clients from acting at the same moment. A simulation draws them from its seed.

/// A client's source of random numbers.
package struct Jitter: RandomNumberGenerator, Sendable {
    /// The system's random numbers.
    package static let system = Jitter { UInt64.random(in: .min ... .max) }

    private let draw: @Sendable () -> UInt64

    package init(_ draw: @escaping @Sendable () -> UInt64) {
        self.draw = draw
    }

    package func next() -> UInt64 { draw() }
}
