// Delays between connection attempts. They grow, so that a starting Redis is not overloaded, and are random, so that
// many workers do not reconnect in step.

/// The delay before each further attempt: it doubles from `first` up to `longest`, and each is shortened by a random
/// amount of up to half.
public struct Backoff: Hashable, Sendable {
    public var first: Duration
    public var longest: Duration
    private var failures = 0

    public init(first: Duration = .milliseconds(50), longest: Duration = .milliseconds(500)) {
        self.first = first
        self.longest = longest
    }

    /// Handles a failed attempt or a lost connection.
    ///
    /// - Returns: the delay before the next attempt.
    mutating func failed(using random: inout some RandomNumberGenerator) -> Duration {
        let pause = min(longest, first * (1 << min(failures, 20)))
        failures += 1
        return pause * Double.random(in: 0.5...1, using: &random)
    }

    /// Resets the delay after a connection that lasted.
    mutating func succeeded() {
        failures = 0
    }
}
