// The client that an app holds, one for its signed-in user. Except for `async` methods, every call returns at once and
// may come from any thread or actor; the work is done on the client's event loop.

package import NIOCore
import NIOPosix

/// A device's connection to Rollcall: observes presence and typing, and reports this device's own.
///
///     let rollcall = RollcallClient(url: "wss://chat.example/v1/connect", device: "iphone") { try await freshToken() }
///     rollcall.connect()
///     for await typing in rollcall.typing(in: "c42") {
///         label.text = TypingText.english.text(for: typing)
///     }
///
/// The client reconnects without limit. After a reconnect, its streams emit the current state. It gives up only on
/// errors that a retry cannot fix (``RollcallError``), and reports them in ``RollcallClient/connection``.
///
/// Every method may be called on any thread or actor. Values arrive in order within one stream, and in no fixed order
/// between streams.
///
/// The client lives until it is closed, or until the app holds neither the client nor an iterator of its streams, nor
/// one of its typing inputs. Then it says goodbye, and this device no longer counts for its user's presence.
public final class RollcallClient: Sendable {
    let engine: EngineHandle

    /// Creates a client for the workers at one address. It does nothing until ``connect()``.
    ///
    /// - Parameters:
    ///   - url: the `ws://` or `wss://` URL of a worker, or of a load balancer for several, such as
    ///     `wss://chat.example/v1/connect`. If it is invalid, ``connect()`` leads to ``ConnectionState/failed(_:)``
    ///     with the code `invalid_url`.
    ///   - device: the device's name, which is unique among the user's devices; `nil` if the token names the device.
    ///   - options: the settings of the client.
    ///   - token: returns a token for the user; may run on any thread. It is called before the first connection, some
    ///     time before the token expires (if it is a JWT with an expiry), and when the token has expired. If it throws,
    ///     the client retries after a pause, except for a ``RollcallError`` whose ``RollcallError/retry`` is false:
    ///     then the client gives up. If it does not return within ``ClientOptions/connectTimeout``, its task is
    ///     cancelled and it is called again. While three calls have not returned, also cancelled ones, the client makes
    ///     no further call.
    public convenience init(
        url: String, device: DeviceID? = nil, options: ClientOptions = ClientOptions(),
        token: @escaping @Sendable () async throws -> String
    ) {
        self.init(urls: [url], device: device, options: options, token: token)
    }

    /// Creates a client for several workers without a load balancer. The client tries them in random order, and moves
    /// on to the next when a worker does not answer or a connection ends. At least one URL is required. The other
    /// parameters are those of ``init(url:device:options:token:)``.
    public convenience init(
        urls: [String], device: DeviceID? = nil, options: ClientOptions = ClientOptions(),
        token: @escaping @Sendable () async throws -> String
    ) {
        let trust = ServerTrust(certificates: options.trustedCertificates, pins: Set(options.pinnedKeys))
        var random = SystemRandomNumberGenerator()
        self.init(
            to: Itinerary(urls, using: &random), device: device, options: options, token: TokenSource(token),
            on: MultiThreadedEventLoopGroup.singleton.next(), by: .system, jitter: .system
        ) { address, loop, owner in
            let wire = WebSocketWire(on: loop, owner: owner)
            wire.connect(to: address, trusting: trust)
            return wire
        }
    }

    /// Creates a client that reaches its worker without a URL.
    ///
    /// - Parameters:
    ///   - loop: the event loop of the client and its wires.
    ///   - clock: the client's clock.
    ///   - dial: makes a wire to the worker.
    package convenience init(
        device: DeviceID?, options: ClientOptions, token: @escaping @Sendable () async throws -> String,
        on loop: any EventLoop, by clock: SteadyClock = .system, jitter: Jitter = .system, dial: @escaping Dial
    ) {
        self.init(
            to: Itinerary([.here]), device: device, options: options, token: TokenSource(token), on: loop, by: clock,
            jitter: jitter, dial: dial)
    }

    /// Creates a client that uses no other event loop, clock or source of randomness than these.
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

    /// Connects, or tries again after ``ConnectionState/failed(_:)``. The device's presence begins with the connection.
    /// Does nothing if the client is connected, connecting or closed; skips the pause if it is waiting.
    public func connect() {
        engine.run { $0.connector.connect() }
    }

    /// Says goodbye and closes the client for good: this device's presence and typing end at once, and all streams
    /// finish.
    public func close() {
        engine.run { $0.close {} }
    }

    /// Closes the client like ``close()``, and waits until the goodbye is sent, at most two seconds.
    public nonisolated(nonsending) func shutdown() async {
        await withCheckedContinuation { done in
            engine.run { $0.close { done.resume() } }
        }
    }

    /// Connects and stays connected until the task is cancelled or ``close()`` is called, then says goodbye.
    ///
    /// - Throws: the error because of which the client gave up. The client is not closed then.
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
    /// Whether messages wait because of the worker's rate limit. On the client's loop only.
    package var isBehind: Bool { engine.read { $0.isBehind } ?? false }

    /// Whether a call to the app, for a token or a name, has not returned yet.
    package nonisolated(nonsending) var isAwaitingItsApp: Bool {
        get async {
            await withCheckedContinuation { answer in
                engine.run { answer.resume(returning: $0.connector.isAwaitingToken || $0.names.isAsking) }
            }
        }
    }
}
