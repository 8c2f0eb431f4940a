// What the workers compute, by what they say with each heartbeat: so it is known of workers on any machine, to the
// heartbeat.

package import RollcallModel

/// Processor time of all workers from a moment on.
package struct WorkersMeter: Sendable {
    /// What a worker said with a heartbeat.
    package struct Beat: Sendable, Hashable {
        package var worker: String
        package var startedAt: Timestamp?
        package var at: Timestamp
        /// Milliseconds since the worker began.
        package var processor: Int64

        package init(worker: String, startedAt: Timestamp? = nil, at: Timestamp, processor: Int64) {
            (self.worker, self.startedAt, self.at, self.processor) = (worker, startedAt, at, processor)
        }
    }

    private var first: [String: Beat] = [:]
    private var last: [String: Beat] = [:]

    package init() {}

    /// Counts from what was heard last.
    package mutating func begin() {
        first = last
    }

    /// A worker that was not there at the beginning counts from its own.
    package mutating func heard(_ beats: [Beat]) {
        for beat in beats {
            last[beat.worker] = beat
            if first[beat.worker] == nil {
                first[beat.worker] = Beat(worker: beat.worker, at: beat.startedAt ?? beat.at, processor: 0)
            }
        }
    }

    /// When the last heart has beaten; `nil` if none has.
    package var latest: Timestamp? { last.values.map(\.at).max() }

    package var workers: Int { last.count }

    /// Seconds of processor time; `nil` if no heart has beaten since the beginning.
    package var seconds: Double? {
        span.map { _ in
            Double(last.values.reduce(0) { $0 + $1.processor - (first[$1.worker]?.processor ?? 0) }) / 1_000
        }
    }

    /// How many processors were busy on average.
    package var cores: Double? {
        span.flatMap { span in seconds.map { $0 / (span / .seconds(1)) } }
    }

    private var span: Duration? {
        guard let from = first.values.map(\.at).min(), let to = latest, to > from else { return nil }
        return .milliseconds(to.since(from).milliseconds)
    }
}
