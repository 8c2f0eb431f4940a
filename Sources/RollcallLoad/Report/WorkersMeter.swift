// The processor time of workers as they report it with each heartbeat, so that it is known also for workers on other
// machines.

package import RollcallModel

/// The processor time of all workers since a given moment.
package struct WorkersMeter: Sendable {
    /// The processor time that a worker reported with a heartbeat.
    package struct Beat: Sendable, Hashable {
        package var worker: String
        package var startedAt: Timestamp?
        package var at: Timestamp
        /// The processor time in milliseconds since the worker started.
        package var processor: Int64

        package init(worker: String, startedAt: Timestamp? = nil, at: Timestamp, processor: Int64) {
            (self.worker, self.startedAt, self.at, self.processor) = (worker, startedAt, at, processor)
        }
    }

    private var first: [String: Beat] = [:]
    private var last: [String: Beat] = [:]

    package init() {}

    /// Starts to count from the last reports.
    package mutating func begin() {
        first = last
    }

    /// Handles reports. A worker that was not there at the beginning counts from its own start.
    package mutating func heard(_ beats: [Beat]) {
        for beat in beats {
            last[beat.worker] = beat
            if first[beat.worker] == nil {
                first[beat.worker] = Beat(worker: beat.worker, at: beat.startedAt ?? beat.at, processor: 0)
            }
        }
    }

    /// The time of the last heartbeat of any worker; `nil` if there was none.
    package var latest: Timestamp? { last.values.map(\.at).max() }

    package var workers: Int { last.count }

    /// The processor time in seconds; `nil` if there was no heartbeat since the beginning.
    package var seconds: Double? {
        span.map { _ in
            Double(last.values.reduce(0) { $0 + $1.processor - (first[$1.worker]?.processor ?? 0) }) / 1_000
        }
    }

    /// The average number of processors in use.
    package var cores: Double? {
        span.flatMap { span in seconds.map { $0 / (span / .seconds(1)) } }
    }

    private var span: Duration? {
        guard let from = first.values.map(\.at).min(), let to = latest, to > from else { return nil }
        return .milliseconds(to.since(from).milliseconds)
    }
}
