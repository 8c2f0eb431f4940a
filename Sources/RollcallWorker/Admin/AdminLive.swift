// Data for the live page: all workers, and details that only the answering worker knows.

import Logging
import RollcallCore
import RollcallProtocol
import RollcallServer

/// A snapshot for the live page.
///
/// Readers compute rates themselves, per worker: the growth of a total between two snapshots, divided by the growth of
/// `beat`. Totals arrive with heartbeats and do not change between two of them.
struct AdminLive: Encodable, Sendable {
    /// Redis as the answering worker sees it.
    struct Redis: Encodable, Sendable {
        /// Whether Redis answers. While it does not, the workers are unknown.
        var up: Bool
        /// Command latency over the last minute, in microseconds; absent if there were no commands.
        var p50: Int64?
        var p99: Int64?

        enum CodingKeys: String, CodingKey {
            case up
            case p50 = "p50_us"
            case p99 = "p99_us"
        }
    }

    /// A conversation with users who are typing, as the answering worker sees it.
    struct Conversation: Encodable, Sendable {
        var conversation: ConversationID
        /// How many users are typing, on all workers.
        var typing: Int
        /// How many sessions of this worker have joined.
        var joined: Int
    }

    /// A log event of the answering worker. It names no user.
    struct Event: Encodable, Sendable {
        /// The time by the clock of the worker's host, as in its log.
        var at: Timestamp
        /// `info`, `notice`, `warning`, `error` or `critical`.
        var level: String
        /// Constant for each kind of event.
        var message: String
        var facts: [String: ByteString]
        /// How often the event repeated with no other event in between; `at` is then the last time.
        var times: Int
    }

    /// The time by Redis. While Redis is unavailable, the worker's estimate of it.
    var time: Timestamp
    /// The time by the clock of the worker's host, like the events.
    var hostTime: Timestamp
    /// The incarnation of the answering worker.
    var worker: String
    /// Whether load balancers should send clients here.
    var ready: Bool
    var redis: Redis
    /// All workers, live ones first.
    var workers: [AdminWorker]
    /// The conversations with the most typing users, busiest first.
    var conversations: [Conversation]
    /// The most recent log events, newest first.
    var events: [Event]

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
        (worker, ready) = (report.own?.name.string ?? "", report.isReady)
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
