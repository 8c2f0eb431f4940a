// What an app's own servers read from the stream of events: who came and who went.

public import RollcallModel

/// An entry of the stream of events.
///
/// Of each user, the entry with the greatest ``Presence/version`` since the last reset counts.
public struct Event: Hashable, Sendable {
    public enum Content: Hashable, Sendable {
        /// The user came or went: their status changed from `offline` to another, or back.
        case status(Presence)
        /// Something may be missing before this. Read again everybody whom you keep, and forget the versions that you know.
        case reset
    }

    /// Where the entry is in the stream: what a reader keeps.
    public var id: EventID
    public var content: Content
    /// When it happened, by Redis's clock.
    public var at: Timestamp

    public init(id: EventID, content: Content, at: Timestamp) {
        (self.id, self.content, self.at) = (id, content, at)
    }
}

/// The place of an entry in a stream of Redis, `MILLISECONDS-NUMBER`.
public struct EventID: Hashable, Comparable, Sendable, CustomStringConvertible {
    public var milliseconds: UInt64
    public var number: UInt64

    /// Before every entry.
    public static let start = EventID(milliseconds: 0, number: 0)

    public init(milliseconds: UInt64, number: UInt64) {
        (self.milliseconds, self.number) = (milliseconds, number)
    }

    public var description: String { "\(milliseconds)-\(number)" }

    public static func < (left: Self, right: Self) -> Bool {
        (left.milliseconds, left.number) < (right.milliseconds, right.number)
    }
}

/// A part of the stream, as a reader gets it.
public struct EventsPage: Hashable, Sendable {
    public var events: [Event]
    /// The `after` of the next read.
    public var next: EventID

    public init(events: [Event], next: EventID) {
        (self.events, self.next) = (events, next)
    }

    /// What a reader after `cursor` gets: the entries behind it; or, if the cursor is outside of the stream, since entries
    /// were trimmed or Redis has lost some, a reset first and then all.
    ///
    /// - Parameters:
    ///   - bounds: the first and the last entry's ID; `nil` if there are no entries.
    ///   - entries: those behind the cursor, in order.
    ///   - oldest: the first entries of the stream, for a reader that gets a reset.
    ///   - now: when this was read.
    public init(
        after cursor: EventID, bounds: ClosedRange<EventID>?, entries: [Event], oldest: [Event], at now: Timestamp
    ) {
        guard cursor == .start || bounds?.contains(cursor) == true else {
            let reset = Event(id: .start, content: .reset, at: now)
            self.init(events: [reset] + oldest, next: oldest.last?.id ?? .start)
            return
        }
        self.init(events: entries, next: entries.last?.id ?? cursor)
    }
}
