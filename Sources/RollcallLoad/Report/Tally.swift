// What happened to the devices of one process, in figures that add up: several processes report as one.

/// Counts and times.
package struct Tally: Sendable, Codable {
    /// Devices that are welcome now.
    package var present = 0
    /// Connections that were begun.
    package var attempts = 0
    package var welcomes = 0
    /// Attempts that came to nothing: nobody listened, or no welcome came.
    package var failures = 0
    /// Connections that ended without being meant to, once they were welcome.
    package var losses = 0
    /// Devices that may not come back: the worker said to put something right first.
    package var expelled = 0
    /// What workers said when they closed: a reason of a goodbye, or a code.
    package var goodbyes: [String: Int] = [:]
    /// Errors that workers answered, by their code.
    package var errors: [String: Int] = [:]

    /// Messages that came, and their bytes.
    package var received = 0
    package var bytes = 0
    /// Messages that were sent.
    package var sent = 0

    /// Starts and stops of typing that were due.
    package var changes = 0
    /// How often somebody was to see one, and how often somebody did.
    package var expected = 0
    package var seen = 0

    /// From when a connection was due to the welcome.
    package var welcome = Timings()
    /// From when a connection was due to when all observers could know.
    package var online = Timings()
    /// From when a start or stop of typing was due to each observer who saw it.
    package var typing = Timings()
    /// From the loss of a connection to the next welcome, waiting as the worker said included.
    package var away = Timings()
    /// From when a device was to speak to when it did: what this load itself adds to the others.
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

    /// All that takes time, under the names of the report.
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

    /// The same without the times, which are much to tell again and again.
    package var counts: Tally {
        var counts = self
        for (_, times) in Self.times { counts[keyPath: times] = Timings() }
        return counts
    }
}
