// Chance, all of it from one seed.

internal import TestSupport

/// A stream of chance. Each part of a simulation draws from a stream of its own, so that a change to one part leaves
/// what the others do as it was.
final class Chance: RandomNumberGenerator {
    private var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    func next() -> UInt64 { generator.next() }

    /// A stream of its own, which what is drawn here later does not change.
    func fork() -> Chance { Chance(seed: next()) }

    /// A generator to be kept by a value.
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
