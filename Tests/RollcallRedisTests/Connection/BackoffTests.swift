import TestSupport
import Testing

@testable import RollcallRedis

@Suite struct BackoffTests {
    @Test func `pauses double up to the longest, each shortened by half at most, until a connection holds`() {
        randomised("backoff") { random in
            var backoff = Backoff()
            for milliseconds in [50, 100, 200, 400, 500, 500, 500] {
                let pause = backoff.failed(using: &random)
                #expect(pause <= .milliseconds(milliseconds))
                #expect(pause >= .milliseconds(milliseconds) / 2)
            }
            backoff.succeeded()
            #expect(backoff.failed(using: &random) <= .milliseconds(50))
        }
    }

    @Test func `a Redis that stays away for years still gets an attempt every half second`() {
        var random = SeededGenerator(seed: printedSeed())
        var backoff = Backoff()
        for _ in 0..<100_000 { #expect(backoff.failed(using: &random) <= .milliseconds(500)) }
    }
}
