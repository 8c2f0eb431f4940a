// How long to wait before the next attempt: exponential with full jitter, so that the clients of a fallen worker come
// back spread out and not in step.

/// The pauses between attempts to connect.
package struct Backoff: Sendable {
    /// How long a connection must have stood for its end to count as a first failure again; otherwise a worker that
    /// welcomes and drops would be asked ever so often.
    static let steady = Duration.seconds(5)
    /// The longest that a worker may make a client wait: beyond it, it is more likely wrong than busy.
    static let longestWait = Duration.seconds(300)

    private let first: Duration
    private let longest: Duration
    private var failures = 0

    package init(first: Duration, longest: Duration) {
        self.first = first
        self.longest = longest
    }

    /// The pause after a connection that had stood.
    ///
    /// - Parameters:
    ///   - held: for how long.
    ///   - asked: how long the worker said to wait.
    package mutating func ended(
        held: Duration, asked: Duration?, using random: inout some RandomNumberGenerator
    ) -> Duration {
        if held >= Self.steady { failures = 0 }
        let pause = failed(using: &random)
        return asked.map { min(max(.zero, $0), Self.longestWait) } ?? pause
    }

    /// The pause after one more failure: anything from nothing to a ceiling that doubles with each.
    package mutating func failed(using random: inout some RandomNumberGenerator) -> Duration {
        let ceiling = min(longest, first * (1 << min(failures, 20)))
        failures += 1
        return .milliseconds(Int64.random(in: 0...max(0, ceiling.milliseconds), using: &random))
    }
}
