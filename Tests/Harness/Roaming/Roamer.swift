// A device as people carry it: it wants to be there, and does what the protocol asks of a good client to stay so.

internal import NIOCore
internal import NIOPosix
public import RollcallModel

/// A device that may be connected to any of some hosts. It remembers what it heard, each with its moment.
public final class Roamer: Sendable {
    /// What it does when its connection ends without its doing.
    public enum Manner: Sendable {
        /// Goes where the goodbye said, or to another host, after a small pause.
        case returns
        /// Goes to the same host again, for as long as it takes.
        case returnsHome
        case staysAway
    }

    /// How it lets go of a connection without a goodbye.
    public enum Loss: Sendable {
        /// It closes.
        case fin
        case reset
        /// It goes on holding the connection, and neither reads nor writes.
        case silence
    }

    /// When a device that comes counts as there.
    public enum Arrival: Sendable {
        case welcomed
        /// The hello was acknowledged: its record stands in Redis.
        case written
    }

    public let user: UserID
    public let device: DeviceID
    let diary: Diary
    private let loop: any EventLoop
    private let inside: NIOLoopBound<RoamerState>

    /// - Parameters:
    ///   - tokens: how it gets its tokens.
    ///   - hosts: where it may connect.
    public init(
        _ user: UserID, _ device: DeviceID, state: DeviceState = .active, manner: Manner = .returns,
        tokens: TokenSource = .names, hosts: Hosts
    ) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let diary = Diary()
        (self.user, self.device, self.loop, self.diary) = (user, device, loop, diary)
        inside = try await loop.submit {
            NIOLoopBound(
                RoamerState(
                    user: user, device: device, state: state, manner: manner, tokens: tokens, hosts: hosts, on: loop,
                    diary: diary),
                eventLoop: loop)
        }.get()
    }

    deinit {
        loop.execute { [inside] in inside.value.end() }
    }

    /// What happened to it so far.
    public var notes: [Note] { diary.notes }

    /// Connects to a host, and is there from now on.
    public func come(to host: Int, until arrival: Arrival = .written) async throws {
        try await loop.flatSubmit { [inside] in inside.value.come(to: host, until: arrival) }.get()
    }

    /// Asks for something and waits for the answer.
    ///
    /// - Throws: ``NoAnswer`` if the connection ends before.
    @discardableResult
    public func ask(_ message: ClientMessage) async throws -> ServerMessage {
        try await loop.flatSubmit { [inside] in inside.value.ask(message) }.get()
    }

    /// Says something without waiting.
    ///
    /// - Returns: when it was written to the socket.
    @discardableResult
    public func say(_ message: ClientMessage) async throws -> ContinuousClock.Instant {
        try await loop.submit { [inside] in
            inside.value.say(message)
            return .now
        }.get()
    }

    /// Ends cleanly and does not come back.
    public func goodbye() async throws {
        try await say(.goodbye)
    }

    /// Loses its connection and does not come back by itself.
    public func lose(_ how: Loss) async throws {
        try await loop.submit { [inside] in inside.value.leave(how) }.get()
    }

    /// What it does from now on when its connection ends.
    public func behave(_ manner: Manner) async throws {
        try await loop.submit { [inside] in inside.value.manner = manner }.get()
    }

    /// Where it is connected, if it is.
    public func whereabouts() async throws -> Int? {
        try await loop.submit { [inside] in inside.value.host }.get()
    }

    /// The connection ended before an answer came.
    public struct NoAnswer: Error {}
}
