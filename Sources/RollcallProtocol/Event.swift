// What an app's own servers are told: who came and who went.

/// An entry of the stream of events.
///
/// Of each user, the entry with the greatest ``Presence/version`` since the last reset counts.
public struct Event: Hashable, Sendable {
    public enum Content: Hashable, Sendable {
        /// The user came or went: their status changed from `offline` to another, or back.
        case status(Presence)
        /// The user has changed their settings, or whom they have blocked. ``Person/blocked`` is not in it.
        case person(UserID, Person)
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

/// The place of an entry in a stream of Redis, `MILLISECONDS-NUMBER`. Text without a number means number 0.
public struct EventID: Hashable, Comparable, Sendable, CustomStringConvertible {
    public var milliseconds: UInt64
    public var number: UInt64

    /// Before every entry.
    public static let start = EventID(milliseconds: 0, number: 0)
    package static let end = EventID(milliseconds: .max, number: .max)

    public init(milliseconds: UInt64, number: UInt64) {
        (self.milliseconds, self.number) = (milliseconds, number)
    }

    /// - Returns: `nil` if the text is no ID.
    public init?(_ text: String) { self.init(ByteString(text)) }

    package init?(_ text: ByteString) {
        let parts = text.parts(at: "-")
        guard parts.count <= 2, text.utf8.count <= 41, let milliseconds = Self.digits(parts[0]),
            let number = parts.count == 2 ? Self.digits(parts[1]) : 0
        else { return nil }
        self.init(milliseconds: milliseconds, number: number)
    }

    private static func digits(_ text: ByteString) -> UInt64? {
        text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } ? UInt64(text.string) : nil
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

    /// Whether a reader after `cursor` has missed entries, since some were trimmed or Redis has lost some, and so gets a
    /// reset first and then the oldest.
    ///
    /// - Parameter bounds: the first and the last entry's ID; `nil` if there are no entries.
    package static func isOutside(_ cursor: EventID, of bounds: ClosedRange<EventID>?) -> Bool {
        cursor != .start && bounds?.contains(cursor) != true
    }

    /// A reset, and what follows.
    package func afterReset(at now: Timestamp) -> EventsPage {
        EventsPage(events: [Event(id: .start, content: .reset, at: now)] + events, next: next)
    }
}

extension EventsPage: JSONWritable {
    package func write(to json: inout JSONWriter) {
        json.object {
            $0.field("events", events)
            $0.field("next", "\(next)")
        }
    }
}

extension Event: JSONWritable {
    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("at", at)
            json.field("id", "\(id)")
            switch content {
            case .status(let presence):
                json.field("last_seen", presence.lastSeen)
                json.field("status", presence.status)
                json.field("user", presence.user)
                json.field("version", presence.version)
            case .person(let user, let person):
                json.field("revision", person.revision)
                json.field("settings", person.settings)
                json.field("type", "person")
                json.field("user", user)
            case .reset: json.field("type", "reset")
            }
        }
    }
}
