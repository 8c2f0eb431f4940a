// A simulated device that stays connected as the protocol asks of a good client.

internal import NIOCore
internal import NIOPosix
public import RollcallProtocol

/// A device that may connect to any of several hosts. It records what it receives, with the time of each message.
public final class Roamer: Sendable {
    /// What the device does when its connection ends and it did not end it itself.
    public enum Manner: Sendable {
        /// Reconnects after a short pause: to the host that the `goodbye` named, or else to another one.
        case returns
        /// Reconnects to the same host until it succeeds.
        case returnsHome
        case staysAway
    }

    /// How the device ends a connection without a `goodbye`.
    public enum Loss: Sendable {
        /// Closes the connection.
        case fin
        case reset
        /// Keeps the connection open, but neither reads nor writes.
        case silence
    }

    /// When a connecting device counts as connected.
    public enum Arrival: Sendable {
        case welcomed
        /// The `hello` and each `enter` were acknowledged: the device's record and its entries are in Redis.
        case written
    }

    public let user: UserID
    public let device: DeviceID
    let diary: Diary
    private let loop: any EventLoop
    private let inside: NIOLoopBound<RoamerState>

    /// - Parameters:
    ///   - tokens: the source of its tokens.
    ///   - hosts: the hosts that it may connect to.
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

    /// Everything recorded so far.
    public var notes: [Note] { diary.notes }

    /// Connects to a host, and reconnects from now on as ``Manner`` says.
    public func come(to host: Int, until arrival: Arrival = .written) async throws {
        try await loop.flatSubmit { [inside] in inside.value.come(to: host, until: arrival) }.get()
    }

    /// Sends a request and waits for the reply.
    ///
    /// - Throws: ``NoAnswer`` if the connection ends first.
    @discardableResult
    public func ask(_ message: ClientMessage) async throws -> ServerMessage {
        try await loop.flatSubmit { [inside] in inside.value.ask(message) }.get()
    }

    /// Sends a message without waiting for a reply.
    ///
    /// - Returns: when the message was written to the socket.
    @discardableResult
    public func say(_ message: ClientMessage) async throws -> ContinuousClock.Instant {
        try await loop.submit { [inside] in
            inside.value.say(message)
            return .now
        }.get()
    }

    /// Sends a `goodbye` and does not reconnect.
    public func goodbye() async throws {
        try await say(.goodbye)
    }

    /// Abandons the connection and does not reconnect until ``come(to:until:)``.
    public func lose(_ how: Loss) async throws {
        try await loop.submit { [inside] in inside.value.leave(how) }.get()
    }

    /// Sets what the device does from now on when its connection ends.
    public func behave(_ manner: Manner) async throws {
        try await loop.submit { [inside] in inside.value.manner = manner }.get()
    }

    /// The host that the device is connected to, if any.
    public func whereabouts() async throws -> Int? {
        try await loop.submit { [inside] in inside.value.host }.get()
    }

    /// The connection ended before the reply arrived.
    public struct NoAnswer: Error {}
}
