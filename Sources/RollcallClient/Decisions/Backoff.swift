// The pause before the next attempt: exponential with full jitter, so that the clients of a lost worker do not all
// reconnect at once.

/// The pauses between attempts to connect.
package struct Backoff: Sendable {
    /// How long a connection must last for the pauses to start again from the shortest. Otherwise a worker that accepts
    /// and drops connections would be tried again and again without growing pauses.
    static let steady = Duration.seconds(5)
    /// The longest that a worker may make a client wait. A longer request is more likely an error.
    static let longestWait = Duration.seconds(300)

    /// No pause is longer, so that doubling cannot overflow, whatever an app sets.
    private static let longestPause = Duration.seconds(365 * 86_400)

    private let first: Duration
    private let longest: Duration
    private var failures = 0

    package init(first: Duration, longest: Duration) {
        self.first = min(first, Self.longestPause)
        self.longest = min(longest, Self.longestPause)
    }

    /// Returns the pause after an established connection ended.
    ///
    /// - Parameters:
    ///   - held: how long the connection lasted.
    ///   - asked: how long the worker asked the client to wait, if it did.
    package mutating func ended(
        held: Duration, asked: Duration?, using random: inout some RandomNumberGenerator
    ) -> Duration {
        if held >= Self.steady { failures = 0 }
        let pause = failed(using: &random)
        return asked.map { min(max(.zero, $0), Self.longestWait) } ?? pause
    }

    /// Returns the pause after another failure: random, from zero to a limit that doubles with each failure.
    package mutating func failed(using random: inout some RandomNumberGenerator) -> Duration {
        let ceiling = min(longest, first * (1 << min(failures, 20)))
        failures += 1
        return .milliseconds(Int64.random(in: 0...max(0, ceiling.milliseconds), using: &random))
    }
}
