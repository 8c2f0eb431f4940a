// Data for the live page: all workers, and details that only the answering worker knows.

internal import Logging
internal import RollcallCore
package import RollcallModel
internal import RollcallShards

/// A snapshot for the live page.
///
/// Readers compute rates themselves, per worker: the growth of a total between two snapshots, divided by the growth of
/// `beat`. Totals arrive with heartbeats and do not change between two of them.
package struct AdminLive: Codable, Sendable {
    /// Redis as the answering worker sees it.
    package struct Redis: Codable, Sendable {
        /// Whether Redis answers. While it does not, the workers are unknown.
        package var up: Bool
        /// Command latency over the last minute, in microseconds; absent if there were no commands.
        package var p50: Int64?
        package var p99: Int64?

        enum CodingKeys: String, CodingKey {
            case up
            case p50 = "p50_us"
            case p99 = "p99_us"
        }
    }

    /// A conversation with users who are typing, as the answering worker sees it.
    package struct Conversation: Codable, Sendable {
        package var conversation: ConversationID
        /// How many users are typing, on all workers.
        package var typing: Int
        /// How many sessions of this worker have joined.
        package var joined: Int
    }

    /// A log event of the answering worker. It names no user.
    package struct Event: Codable, Sendable {
        /// The time by the clock of the worker's host, as in its log.
        package var at: Timestamp
        /// `info`, `notice`, `warning`, `error` or `critical`.
        package var level: String
        /// Constant for each kind of event.
        package var message: String
        package var facts: [String: String]
        /// How often the event repeated with no other event in between; `at` is then the last time.
        package var times: Int
    }

    /// The time by Redis. While Redis is unavailable, the worker's estimate of it.
    package var time: Timestamp
    /// The time by the clock of the worker's host, like the events. Absent from older versions.
    package var hostTime: Timestamp?
    /// The incarnation of the answering worker.
    package var worker: String
    /// Whether load balancers should send clients here.
    package var ready: Bool
    package var redis: Redis
    /// All workers, live ones first.
    package var workers: [AdminWorker]
    /// The conversations with the most typing users, busiest first.
    package var conversations: [Conversation]
    /// The most recent log events, newest first.
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
