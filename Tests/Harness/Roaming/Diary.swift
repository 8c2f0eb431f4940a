// What a device heard, and when: everything that is judged later is judged by this.

internal import NIOConcurrencyHelpers
public import RollcallModel

/// One entry of a diary.
public struct Note: Sendable {
    public enum Event: Sendable {
        /// It tries to connect to a host.
        case tried(host: Int)
        case welcomed(host: Int)
        case presence(Presence)
        case typing(ServerMessage.Typing)
        /// The worker acknowledged a `join` that was sent at this moment.
        case joined(ConversationID, asked: ContinuousClock.Instant)
        /// The worker acknowledged the start or renewal of typing that was sent at this moment.
        case signalled(ConversationID, asked: ContinuousClock.Instant)
        /// The user is no longer a member of the conversation.
        case removed(ConversationID)
        /// The worker took a fresh token.
        case refreshed
        case goodbye(ServerMessage.Goodbye)
        /// A connection that it did not end itself, on this host, ended.
        case ended(host: Int, CloseCode?)
        /// It let go of its connection itself.
        case left(host: Int)
    }

    public let at: ContinuousClock.Instant
    public let event: Event
}

/// A device's notes, in the order of time.
final class Diary: Sendable {
    private let entries = NIOLockedValueBox<[Note]>([])

    var notes: [Note] { entries.withLockedValue { $0 } }

    func note(_ event: Note.Event) {
        entries.withLockedValue { $0.append(Note(at: .now, event: event)) }
    }
}

/// Where devices may connect: hosts by number, each with a port while it has one.
public struct Hosts: Sendable {
    let count: Int
    let port: @Sendable (Int) -> Int?

    public init(count: Int, port: @escaping @Sendable (Int) -> Int?) {
        self.count = count
        self.port = port
    }

    /// Which host a worker means that says where to go.
    func host(at url: String) -> Int? {
        let port = url.wholeMatch(of: #/wss?://[^/]*:(\d+)(/.*)?/#).flatMap { Int($0.output.1) }
        return port.flatMap { port in (0..<count).first { self.port($0) == port } }
    }

    func other(than host: Int) -> Int {
        count > 1 ? (host + Int.random(in: 1..<count)) % count : host
    }
}
