// The most recent events of a worker's log, for the live view.

package import Logging
import NIOConcurrencyHelpers
import RollcallProtocol

/// An event of the log.
struct LoggedEvent: Hashable, Sendable {
    /// By this host's clock, as in the log.
    var at: Timestamp
    var level: Logger.Level
    /// Constant; variable parts are in the facts.
    var message: String
    var facts: [String: ByteString]
    /// How often it repeated with no other event in between; `at` is then the last time.
    var times = 1
}

/// The most recent events; each new one replaces the oldest. Adding takes a lock, because events are rare.
package final class EventRing: Sendable {
    static let most = 100

    private let kept = NIOLockedValueBox<[LoggedEvent]>([])

    package init() {}

    /// Newest first.
    var events: [LoggedEvent] { kept.withLockedValue { $0.reversed() } }

    /// Repeated events, such as failed heartbeats, are merged and do not displace the others.
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
    /// The same logger, which also stores events in a ring.
    package func kept(in ring: EventRing) -> Logger {
        var logger = self
        logger.handler = RingLog(handler, in: ring)
        return logger
    }

    /// The same logger without a ring, for events that any client can cause at will.
    var unkept: Logger {
        var logger = self
        if let kept = handler as? RingLog { logger.handler = kept.written }
        return logger
    }
}

/// Also stores events in a ring, from level `info`, whatever level is written. Lower levels may name users.
struct RingLog: LogHandler {
    /// Events below this level are neither written nor stored. It does not lower the level of what is written.
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
        let facts = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues { ByteString("\($0)") }
        ring.note(LoggedEvent(at: .hostTime, level: event.level, message: "\(event.message)", facts: facts))
    }
}
