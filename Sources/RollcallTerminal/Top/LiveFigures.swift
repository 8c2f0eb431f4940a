// What a worker's admin port reports about all workers at one moment, as far as it is shown.

package import RollcallModel

/// One answer of a worker.
package struct LiveFigures: Hashable, Sendable {
    /// By Redis's clock.
    package var time: Timestamp
    /// By the clock of the worker's host, like the events; absent in older versions.
    package var hostTime: Timestamp?
    /// The worker that answered.
    package var worker: String
    package var isReady: Bool
    package var redis: Redis
    /// Workers that are alive come first. Empty while Redis is away.
    package var workers: [Worker]
    /// The conversations in which the most users are typing, busiest first.
    package var conversations: [Conversation]
    /// Newest first.
    package var events: [Event]

    package init(
        time: Timestamp, worker: String, isReady: Bool = true, redis: Redis = Redis(), workers: [Worker] = [],
        conversations: [Conversation] = [], events: [Event] = []
    ) {
        (self.time, self.worker, self.isReady, self.redis) = (time, worker, isReady, redis)
        (self.workers, self.conversations, self.events) = (workers, conversations, events)
    }
}

extension LiveFigures {
    /// The Redis of the worker that answered, and the recent latency of its commands, in microseconds.
    package struct Redis: Hashable, Sendable {
        package var isUp: Bool
        package var median: Int64?
        package var slow: Int64?

        package init(isUp: Bool = true, median: Int64? = nil, slow: Int64? = nil) {
            (self.isUp, self.median, self.slow) = (isUp, median, slow)
        }
    }

    /// One incarnation. Figures that an older version does not report are absent.
    package struct Worker: Hashable, Sendable {
        package var name: String
        package var isAlive = true
        package var isDraining = false
        package var leaseEnd: Timestamp?
        package var beat: Timestamp?
        package var startedAt: Timestamp?
        package var host: String?
        package var version: String?
        package var sessions: Int64?
        package var totals = Totals()

        /// Whether the worker stopped in an orderly way, as far as is known: it was draining, and its lease has
        /// expired.
        package var hasLeft: Bool { isDraining && !isAlive }

        package init(_ name: String) {
            self.name = name
        }
    }

    /// Totals since the worker started.
    package struct Totals: Hashable, Sendable {
        package var signals: Int64?
        package var published: Int64?
        package var delivered: Int64?
        /// Processor time, in milliseconds.
        package var cpu: Int64?

        package init(
            signals: Int64? = nil, published: Int64? = nil, delivered: Int64? = nil, cpu: Int64? = nil
        ) {
            (self.signals, self.published, self.delivered, self.cpu) = (signals, published, delivered, cpu)
        }
    }

    package struct Conversation: Hashable, Sendable {
        package var name: String
        package var typing: Int
        package var joined: Int

        package init(_ name: String, typing: Int, joined: Int) {
            (self.name, self.typing, self.joined) = (name, typing, joined)
        }
    }

    package struct Event: Hashable, Sendable {
        package var at: Timestamp
        package var level: String
        package var message: String
        package var facts: [String: String]
        package var times: Int

        package init(at: Timestamp, level: String, message: String, facts: [String: String] = [:], times: Int = 1) {
            (self.at, self.level, self.message, self.facts, self.times) = (at, level, message, facts, times)
        }
    }
}
