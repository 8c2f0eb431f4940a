// What a device received, and when. The tests judge everything by these entries.

internal import NIOConcurrencyHelpers
public import RollcallProtocol

/// One entry of a diary.
public struct Note: Sendable {
    public enum Event: Sendable {
        /// The device tries to connect to a host.
        case tried(host: Int)
        case welcomed(host: Int)
        case presence(Presence)
        case typing(ServerMessage.Typing)
        case here(ServerMessage.Here)
        /// The worker acknowledged a `join` that was sent at this moment.
        case joined(ConversationID, asked: ContinuousClock.Instant)
        /// The worker acknowledged the start or renewal of typing that was sent at this moment.
        case signalled(ConversationID, asked: ContinuousClock.Instant)
        /// The user is no longer a member of the conversation.
        case removed(ConversationID)
        /// The worker accepted a new token.
        case refreshed
        case goodbye(ServerMessage.Goodbye)
        /// A connection to this host ended, and the device did not end it.
        case ended(host: Int, CloseCode?)
        /// The device ended its connection itself.
        case left(host: Int)
    }

    public let at: ContinuousClock.Instant
    public let event: Event
}

/// A device's entries, in order of time.
final class Diary: Sendable {
    private let entries = NIOLockedValueBox<[Note]>([])

    var notes: [Note] { entries.withLockedValue { $0 } }

    func note(_ event: Note.Event) {
        entries.withLockedValue { $0.append(Note(at: .now, event: event)) }
    }
}

/// The hosts that devices may connect to, by number. A host has a port only while it is up.
public struct Hosts: Sendable {
    let count: Int
    let port: @Sendable (Int) -> Int?

    public init(count: Int, port: @escaping @Sendable (Int) -> Int?) {
        self.count = count
        self.port = port
    }

    /// Returns the host that a URL in a `goodbye` names.
    func host(at url: String) -> Int? {
        let port = url.wholeMatch(of: #/wss?://[^/]*:(\d+)(/.*)?/#).flatMap { Int($0.output.1) }
        return port.flatMap { port in (0..<count).first { self.port($0) == port } }
    }

    func other(than host: Int) -> Int {
        count > 1 ? (host + Int.random(in: 1..<count)) % count : host
    }
}
