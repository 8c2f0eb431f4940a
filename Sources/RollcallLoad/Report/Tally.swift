// What happened to the devices of one process, in figures that can be added, so that several processes report as one.

/// Counts and times.
package struct Tally: Sendable, Codable {
    /// Devices that are connected now.
    package var present = 0
    /// Connection attempts.
    package var attempts = 0
    package var welcomes = 0
    /// Failed attempts: no worker listened, or no welcome arrived.
    package var failures = 0
    /// Connections that ended without intent after the welcome.
    package var losses = 0
    /// Devices that must not reconnect, because the close code requires a fix first.
    package var expelled = 0
    /// Why workers closed connections: the reason of a goodbye, or a close code.
    package var goodbyes: [String: Int] = [:]
    /// Errors that workers returned, by code.
    package var errors: [String: Int] = [:]

    /// Received messages, and their bytes.
    package var received = 0
    package var bytes = 0
    /// Sent messages.
    package var sent = 0

    /// Starts and stops of typing that were due.
    package var changes = 0
    /// How often an observer should see one of these changes, and how often one did.
    package var expected = 0
    package var seen = 0

    /// From the moment at which a connection was due to its welcome.
    package var welcome = Timings()
    /// From the moment at which a connection was due until its presence was published.
    package var online = Timings()
    /// From the moment at which a start or stop of typing was due until an observer saw it.
    package var typing = Timings()
    /// From the loss of a connection to the next welcome, including pauses that workers asked for.
    package var away = Timings()
    /// From the moment at which a device was due to send until it did: the delay that this load itself adds to the
    /// others.
    package var late = Timings()

    /// When the first device was lost, and when the last one was back.
    package var firstLoss: Moment?
    package var lastReturn: Moment?

    package init() {}

    private static var counts: [WritableKeyPath<Tally, Int>] {
        [
            \.present, \.attempts, \.welcomes, \.failures, \.losses, \.expelled, \.received, \.bytes, \.sent, \.changes,
            \.expected, \.seen,
        ]
    }

    /// All distributions, with their names in the report.
    package static var times: [(name: String, times: WritableKeyPath<Tally, Timings>)] {
        [("welcome", \.welcome), ("online", \.online), ("typing", \.typing), ("away", \.away), ("late", \.late)]
    }

    package static func + (left: Tally, right: Tally) -> Tally {
        var sum = left
        for count in counts { sum[keyPath: count] += right[keyPath: count] }
        for (_, times) in times { sum[keyPath: times] = sum[keyPath: times] + right[keyPath: times] }
        sum.goodbyes.merge(right.goodbyes, uniquingKeysWith: +)
        sum.errors.merge(right.errors, uniquingKeysWith: +)
        sum.firstLoss = [left.firstLoss, right.firstLoss].compactMap { $0 }.min()
        sum.lastReturn = [left.lastReturn, right.lastReturn].compactMap { $0 }.max()
        return sum
    }

    /// The same without the distributions, which are too large to report repeatedly.
    package var counts: Tally {
        var counts = self
        for (_, times) in Self.times { counts[keyPath: times] = Timings() }
        return counts
    }
}
