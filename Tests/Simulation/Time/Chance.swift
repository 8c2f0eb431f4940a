// All randomness, derived from one seed.

internal import TestSupport

/// A random stream. Each part of a simulation draws from its own stream, so that a change to one part does not affect
/// the others.
final class Chance: RandomNumberGenerator {
    private var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    func next() -> UInt64 { generator.next() }

    /// Returns a separate stream, which later draws from this one do not affect.
    func fork() -> Chance { Chance(seed: next()) }

    /// Returns a generator that a value can store.
    func kept() -> SeededGenerator { SeededGenerator(seed: next()) }

    func happens(_ probability: Double) -> Bool { draw(in: 0..<1) < probability }

    func pick<Element>(_ elements: some RandomAccessCollection<Element>) -> Element {
        let distance = Int(next() % UInt64(elements.count))
        return elements[elements.index(elements.startIndex, offsetBy: distance)]
    }

    func count(in range: ClosedRange<Int>) -> Int { range.lowerBound + Int(next() % UInt64(range.count)) }

    func duration(in range: ClosedRange<Duration>) -> Duration {
        let least = range.lowerBound.nanoseconds
        return .nanoseconds(least + Int64(next() % UInt64(range.upperBound.nanoseconds - least + 1)))
    }

    private func draw(in range: Range<Double>) -> Double {
        var random = self
        return Double.random(in: range, using: &random)
    }
}
