// How long to wait before the next attempt: exponential with full jitter, so that the clients of a fallen worker come
// back spread out and not in step.

/// The pauses between attempts to connect.
struct Backoff {
    /// How long a connection must have stood for its end to count as a first failure again; otherwise a worker that
    /// welcomes and drops would be asked ever so often.
    static let steady = Duration.seconds(5)

    private let first: Duration
    private let longest: Duration
    private var failures = 0

    init(first: Duration, longest: Duration) {
        self.first = first
        self.longest = longest
    }

    mutating func connectionHeld(for duration: Duration) {
        if duration >= Self.steady { failures = 0 }
    }

    /// The pause after one more failure: anything from nothing to a ceiling that doubles with each.
    mutating func failed(using random: inout some RandomNumberGenerator) -> Duration {
        let ceiling = min(longest, first * (1 << min(failures, 20)))
        failures += 1
        return .milliseconds(Int64.random(in: 0...max(0, ceiling.milliseconds), using: &random))
    }
}
