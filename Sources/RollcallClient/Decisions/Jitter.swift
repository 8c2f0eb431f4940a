// The chance by which clients keep out of step with each other, which a simulation draws from its seed.

/// A client's source of chance.
package struct Jitter: RandomNumberGenerator, Sendable {
    /// This machine's.
    package static let system = Jitter { UInt64.random(in: .min ... .max) }

    private let draw: @Sendable () -> UInt64

    package init(_ draw: @escaping @Sendable () -> UInt64) {
        self.draw = draw
    }

    package func next() -> UInt64 { draw() }
}
