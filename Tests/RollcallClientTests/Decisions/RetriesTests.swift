// How long a client pauses before it repeats what a worker refused temporarily.

import Testing

@testable import RollcallClient

@Suite struct RetriesTests {
    private let start = ContinuousClock.now

    /// A random generator that always returns its maximum.
    private struct Full: RandomNumberGenerator {
        mutating func next() -> UInt64 { .max }
    }

    @Test("the pauses double from 250 ms to 15 s, and start again after a success")
    func pauses() throws {
        var retries = Retries()
        var random = Full()
        var pauses: [Duration] = []
        for _ in 0..<8 {
            retries.refused(.watch, at: start, using: &random)
            retries.refused(.get, at: start + .seconds(1), using: &random)
            retries.succeeded(.watch, message: 9)
            pauses.append(try #require(retries.deadline) - start)
            retries.begin(after: 7)
            retries.succeeded(.watch, message: 7)
            retries.succeeded(.join, message: 8)
        }
        #expect(pauses == [250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000].map { .milliseconds($0) })
        retries.succeeded(.get, message: 8)
        retries.refused(.watch, at: start, using: &random)
        #expect(retries.deadline == start + .milliseconds(250))
    }
}
