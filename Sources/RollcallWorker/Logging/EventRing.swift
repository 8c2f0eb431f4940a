// The last events of a worker's log, kept for those who watch it live and have no log at hand.

import Logging
import NIOConcurrencyHelpers
import RollcallModel

/// An event of the log.
struct LoggedEvent: Hashable, Sendable {
    /// By this host's clock, as in the log.
    var at: Timestamp
    var level: Logger.Level
    /// Constant; what differs from time to time stands in the facts.
    var message: String
    var facts: [String: String]
    /// How often it came without another in between; then `at` is the last time.
    var times = 1
}

/// The newest events, of which an older one goes for each that comes. Events are rare: to note one takes a lock.
final class EventRing: Sendable {
    static let most = 100

    private let kept = NIOLockedValueBox<[LoggedEvent]>([])

    /// The newest first.
    var events: [LoggedEvent] { kept.withLockedValue { $0.reversed() } }

    /// What comes again and again, such as each heartbeat that fails, does not push the rest out.
    func note(_ event: LoggedEvent) {
        kept.withLockedValue { kept in
            var event = event
            if let last = kept.last, last.isSame(as: event) { event.times += kept.removeLast().times }
            kept.append(event)
            if kept.count > Self.most { kept.removeFirst() }
        }
    }
}

extension LoggedEvent {
    fileprivate func isSame(as other: Self) -> Bool {
        (level, message) == (other.level, other.message) && facts == other.facts
    }
}

extension Logger {
    /// The same log, kept in a ring too.
    func kept(in ring: EventRing) -> Logger {
        var logger = self
        logger.handler = RingLog(handler, in: ring)
        return logger
    }

    /// The same log, of which nothing is kept: for what anybody can cause as often as they like.
    var unkept: Logger {
        var logger = self
        if let kept = handler as? RingLog { logger.handler = kept.written }
        return logger
    }
}

/// A log that is kept in a ring too, from `info` on, whatever level is written. Below that it may name users.
struct RingLog: LogHandler {
    /// What does not pass this is neither written nor kept; to what is written otherwise it adds nothing.
    var logLevel: Logger.Level
    fileprivate private(set) var written: any LogHandler
    private let ring: EventRing

    private static let least = Logger.Level.info

    init(_ written: any LogHandler, in ring: EventRing) {
        self.written = written
        self.ring = ring
        logLevel = min(written.logLevel, Self.least)
    }

    var metadata: Logger.Metadata {
        get { written.metadata }
        set { written.metadata = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { written[metadataKey: key] }
        set { written[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) {
        if event.level >= written.logLevel { written.log(event: event) }
        guard event.level >= Self.least else { return }
        let facts = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues { "\($0)" }
        ring.note(LoggedEvent(at: .hostTime, level: event.level, message: "\(event.message)", facts: facts))
    }
}
