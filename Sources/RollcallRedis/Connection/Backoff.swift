// Pauses between attempts to connect: growing, so that a Redis coming up is not trampled, and random, so that many
// workers do not come in step.

/// The pauses before each further attempt: doubling from `first` up to `longest`, each shortened at random by up to
/// half.
public struct Backoff: Hashable, Sendable {
    public var first: Duration
    public var longest: Duration
    private var failures = 0

    public init(first: Duration = .milliseconds(50), longest: Duration = .milliseconds(500)) {
        self.first = first
        self.longest = longest
    }

    /// An attempt failed, or a connection was lost.
    ///
    /// - Returns: how long to wait before the next.
    mutating func failed(using random: inout some RandomNumberGenerator) -> Duration {
        let pause = min(longest, first * (1 << min(failures, 20)))
        failures += 1
        return pause * Double.random(in: 0.5...1, using: &random)
    }

    /// A connection has held: the next failure starts small again.
    mutating func succeeded() {
        failures = 0
    }
}
