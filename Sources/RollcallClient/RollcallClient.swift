// What an app holds: one client for its signed-in user. Every call returns at once and may come from any thread or
// actor; what happens because of it happens on the client's own event loop.

package import NIOCore
import NIOPosix

/// A device's line to Rollcall: who is here, who is typing, and what others may know of this device.
///
///     let rollcall = RollcallClient(url: "wss://chat.example/v1/connect", device: "iphone") { try await freshToken() }
///     rollcall.connect()
///     for await typing in rollcall.typing(in: "c42") {
///         label.text = TypingText.english.text(for: typing)
///     }
///
/// It reconnects for ever, and after each reconnect its streams show the truth of then; only a mistake
/// (``RollcallError``) ends that. It lives as long as anyone holds it, iterates one of its streams or holds one of its
/// typing inputs; then, or at ``close()``, it says goodbye.
public final class RollcallClient: Sendable {
    let engine: EngineHandle

    /// A client of the workers at one address.
    ///
    /// - Parameters:
    ///   - url: where a worker, or a load balancer before several, listens, such as `wss://chat.example/v1/connect`. If
    ///     it is no such URL, the connection state says so (`invalid_url`).
    ///   - device: this device's name among the user's; `nil` where the token names it.
    ///   - options: the choices of the app.
    ///   - token: called for the first connection, some time before the token expires if it is a JWT that says when,
    ///     and whenever it has expired. What it throws counts as weather, and it is asked again, unless it is a
    ///     ``RollcallError`` that says otherwise. If it does not answer within ``ClientOptions/connectTimeout``, its task
    ///     is cancelled and it is called again.
    public convenience init(
        url: String, device: DeviceID? = nil, options: ClientOptions = ClientOptions(),
        token: @escaping @Sendable () async throws -> String
    ) {
        self.init(urls: [url], device: device, options: options, token: token)
    }

    /// A client that knows several workers, where no load balancer stands before them: it takes them in an order that
    /// it draws, and goes on to the next when one does not answer or a connection ends. There must be one at least; all
    /// else is as with ``init(url:device:options:token:)``.
    public convenience init(
        urls: [String], device: DeviceID? = nil, options: ClientOptions = ClientOptions(),
        token: @escaping @Sendable () async throws -> String
    ) {
        let certificates = options.trustedCertificates
        var random = SystemRandomNumberGenerator()
        self.init(
            to: Itinerary(urls, using: &random), device: device, options: options, token: TokenSource(token),
            on: MultiThreadedEventLoopGroup.singleton.next(), by: .system, jitter: .system
        ) { address, loop, owner in
            let wire = WebSocketWire(on: loop, owner: owner)
            wire.connect(to: address, trusting: certificates)
            return wire
        }
    }

    /// A client whose worker is reached in some other way than by a URL.
    ///
    /// - Parameters:
    ///   - loop: on which the client lives, and its wires.
    ///   - clock: what it takes for now.
    ///   - dial: makes a wire to the worker.
    package convenience init(
        device: DeviceID?, options: ClientOptions, token: @escaping @Sendable () async throws -> String,
        on loop: any EventLoop, by clock: SteadyClock = .system, jitter: Jitter = .system, dial: @escaping Dial
    ) {
        self.init(
            to: Itinerary([.here]), device: device, options: options, token: TokenSource(token), on: loop, by: clock,
            jitter: jitter, dial: dial)
    }

    /// A client in whose life nothing happens but on this loop, by this clock and this chance.
    package convenience init(
        urls: [String], device: DeviceID?, options: ClientOptions, token: TokenSource,
        on loop: any EventLoop, by clock: SteadyClock, jitter: Jitter, dial: @escaping Dial
    ) {
        var random = jitter
        self.init(
            to: Itinerary(urls, using: &random), device: device, options: options, token: token, on: loop, by: clock,
            jitter: jitter, dial: dial)
    }

    private init(
        to itinerary: Itinerary<WorkerAddress>?, device: DeviceID?, options: ClientOptions,
        token: TokenSource, on loop: any EventLoop, by clock: SteadyClock, jitter: Jitter, dial: @escaping Dial
    ) {
        engine = EngineHandle(on: loop, by: clock, jitter: jitter, options: options) { engine in
            Connector(
                to: itinerary, device: device, options: options, token: token, dial: dial, on: loop, by: clock,
                jitter: jitter, owner: engine)
        }
    }

    deinit {
        engine.run { $0.close {} }
    }

    /// Begins to connect, or to try again after ``ConnectionState/failed(_:)``. The device's presence begins with it.
    public func connect() {
        engine.run { $0.connector.connect() }
    }

    /// Says goodbye and ends: presence and typing of this device at once, every stream, and the client for good.
    public func close() {
        engine.run { $0.close {} }
    }

    /// ``close()``, and waits until the goodbye has gone out, for two seconds at most.
    public nonisolated(nonsending) func shutdown() async {
        await withCheckedContinuation { done in
            engine.run { $0.close { done.resume() } }
        }
    }

    /// Connects, stays connected until the task is cancelled or ``close()`` is called, and says goodbye.
    ///
    /// - Throws: the mistake because of which the client gave up.
    public nonisolated(nonsending) func run() async throws(RollcallError) {
        connect()
        for await state in connection {
            if case .failed(let error) = state { throw error }
        }
        await shutdown()
    }
}

// For tests.
extension RollcallClient {
    /// Whether the worker's rate keeps back what the client is to send. On the client's loop only.
    package var isBehind: Bool { engine.read { $0.isBehind } ?? false }

    /// Whether the app was asked for something, a token or a name, and has not answered yet.
    package nonisolated(nonsending) var isAwaitingItsApp: Bool {
        get async {
            await withCheckedContinuation { answer in
                engine.run { answer.resume(returning: $0.connector.isAwaitingToken || $0.names.isAsking) }
            }
        }
    }
}
