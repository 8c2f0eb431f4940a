// What the live page and `rollcall top` show: all workers, and of the one that is asked what only it can know.

internal import Logging
internal import RollcallCore
package import RollcallModel

/// All there is to be seen just now.
///
/// Rates are for the reader to make, of each worker by itself: what its totals grew by from one answer to another, over
/// what its `beat` did. They are told with its heartbeats, so that between two of those they stand still.
package struct AdminLive: Codable, Sendable {
    /// The Redis of the worker that answers, as it finds it.
    package struct Redis: Codable, Sendable {
        /// Whether it answers. While it does not, nothing is known of the workers.
        package var up: Bool
        /// How long commands of the last minute took, in microseconds; absent if there were none.
        package var p50: Int64?
        package var p99: Int64?

        enum CodingKeys: String, CodingKey {
            case up
            case p50 = "p50_us"
            case p99 = "p99_us"
        }
    }

    /// A conversation in which people type, as the worker sees it that answers.
    package struct Conversation: Codable, Sendable {
        package var conversation: ConversationID
        /// How many people type there, on whatever worker.
        package var typing: Int
        /// How many sessions of this worker have joined it.
        package var joined: Int
    }

    /// An event of the log of the worker that answers. It names no user.
    package struct Event: Codable, Sendable {
        /// By the clock of the worker's host, as in its log.
        package var at: Timestamp
        /// `info`, `notice`, `warning`, `error` or `critical`.
        package var level: String
        /// Always the same for the same kind of event.
        package var message: String
        package var facts: [String: String]
        /// How often it came without another in between; then `at` is the last time.
        package var times: Int
    }

    /// By Redis; while it is away, what the worker takes it to be.
    package var time: Timestamp
    /// By the clock of the worker's host, as the events are; absent of an older version.
    package var hostTime: Timestamp?
    /// The incarnation of the worker that answers.
    package var worker: String
    /// Whether it should be sent devices.
    package var ready: Bool
    package var redis: Redis
    /// All workers, the living first.
    package var workers: [AdminWorker]
    /// Those in which the most people type, the busiest first.
    package var conversations: [Conversation]
    /// The last that were logged, the newest first.
    package var events: [Event]

    enum CodingKeys: String, CodingKey {
        case time
        case hostTime = "host_time"
        case worker, ready, redis, workers, conversations, events
    }
}

extension AdminLive {
    init(_ report: LiveReport, events: [LoggedEvent], at hostTime: Timestamp) {
        let all = AdminWorkers(report.workers)
        (time, workers, self.hostTime) = (all.time, all.workers, hostTime)
        (worker, ready) = (report.own?.name ?? "", report.isReady)
        redis = Redis(
            up: report.redis.isUp, p50: report.redis.medianMicroseconds, p99: report.redis.slowMicroseconds)
        conversations = report.conversations.map {
            Conversation(conversation: $0.conversation, typing: $0.typing, joined: $0.joined)
        }
        self.events = events.map {
            Event(at: $0.at, level: $0.level.rawValue, message: $0.message, facts: $0.facts, times: $0.times)
        }
    }
}
