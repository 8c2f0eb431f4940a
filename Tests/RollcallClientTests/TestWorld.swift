// A test environment for the client: a worker without sockets that does what the test says, and a clock that the test
// advances. Nothing takes real time, so a busy machine has no effect.

import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import RollcallModel
import TestSupport

@testable import RollcallClient

/// A scripted worker and the clock of its clients.
final class TestWorld: Sendable {
    /// What the worker does with each request.
    typealias Script = @Sendable (ClientRequest, Connection) -> Void

    /// How the worker reacts to connection attempts.
    enum Listening: Sendable {
        case accepts
        case refuses
        /// The attempt is never answered.
        case isSilent
    }

    private struct State: Sendable {
        var connections: [Connection] = []
        var listening = Listening.accepts
        var attempts = 0
        var clients: [Weak] = []
        var timersSet = 0
        var slept = Duration.zero
        var serverTime = Timestamp(milliseconds: 1_753_600_000_000)
    }

    private struct Weak: Sendable {
        weak var client: RollcallClient?
    }

    private let loop = NIOAsyncTestingEventLoop()
    private let clock: SteadyClock
    private let jitter: Jitter
    private let script: Script
    private let state = NIOLockedValueBox(State())

    /// Whether time waits for the application's callbacks, however long they take.
    private let isAppAwaited: Bool

    /// - Parameter jitter: the clients' random numbers; by default the same in each run.
    init(
        isAppAwaited: Bool = true, jitter: Jitter? = nil, script: @escaping Script = { $1.behave($0) }
    ) {
        let random = NIOLockedValueBox(SeededGenerator(seed: 1))
        self.isAppAwaited = isAppAwaited
        self.jitter = jitter ?? Jitter { random.withLockedValue { $0.next() } }
        self.script = script
        let start = ContinuousClock.now
        clock = SteadyClock { [loop, state] in
            start + .nanoseconds(Int64(loop.now.uptimeNanoseconds)) + state.withLockedValue { $0.slept }
        } note: { [state] _ in
            state.withLockedValue { $0.timersSet += 1 }
        }
    }

    /// All connections so far, including closed ones.
    var connections: [Connection] { state.withLockedValue { $0.connections } }
    /// The newest connection.
    var connection: Connection { connections.last! }
    var attempts: Int { state.withLockedValue { $0.attempts } }
    /// The number of timers that clients have set so far.
    var timersSet: Int { state.withLockedValue { $0.timersSet } }
    /// The time since the start, by this clock.
    var time: Duration { .nanoseconds(Int64(loop.now.uptimeNanoseconds)) }

    func listen(_ listening: Listening) { state.withLockedValue { $0.listening = listening } }

    /// Creates a client of `alice`'s phone.
    func client(_ adjust: (inout ClientOptions) -> Void = { _ in }) -> RollcallClient {
        client(token: { "alice" }, adjust)
    }

    func client(
        token: @escaping @Sendable () async throws -> String,
        _ adjust: (inout ClientOptions) -> Void = { _ in }
    ) -> RollcallClient {
        var options = ClientOptions()
        adjust(&options)
        let client = RollcallClient(
            device: "phone", options: options, token: token, on: loop, by: clock, jitter: jitter
        ) { [state, script] _, loop, owner in
            let connection = Connection(on: loop, owner: owner, script: script) { Self.serverTime(state, loop) }
            let listening = state.withLockedValue {
                $0.attempts += 1
                if $0.listening == .accepts { $0.connections.append(connection) }
                return $0.listening
            }
            connection.begin(listening)
            return connection
        }
        state.withLockedValue { $0.clients.append(Weak(client: client)) }
        return client
    }

    /// Creates a client and connects it.
    func connected(
        _ adjust: (inout ClientOptions) -> Void = { _ in }
    ) async throws -> RollcallClient {
        let client = client(adjust)
        client.connect()
        await settle()
        try await client.isConnected()
        return client
    }

    /// Runs everything that needs no time.
    func settle() async {
        for _ in 0..<8 {
            await loop.run()
            for client in state.withLockedValue({ $0.clients.compactMap(\.client) }) {
                while isAppAwaited, await client.isAwaitingItsApp { try? await Task.sleep(for: .milliseconds(1)) }
            }
        }
    }

    /// Lets the machine sleep: the clock advances, and timers do not.
    func sleep(for duration: Duration) {
        state.withLockedValue { $0.slept += duration }
    }

    /// The worker's clock.
    var serverTime: Timestamp { Self.serverTime(state, loop) }

    private static func serverTime(_ state: NIOLockedValueBox<State>, _ loop: any EventLoop) -> Timestamp {
        let passed = Duration.nanoseconds(Int64(loop.now.uptimeNanoseconds))
        return state.withLockedValue { $0.serverTime.advanced(by: passed + $0.slept) }
    }

    /// Sets the worker's clock forward or back.
    func setClock(by duration: Duration) {
        state.withLockedValue { $0.serverTime = $0.serverTime.advanced(by: duration) }
    }

    /// Lets time pass, in steps small enough for answers of the application to arrive in time.
    func advance(by duration: Duration) async {
        await settle()
        var left = duration
        while left > .zero {
            let step = min(left, left > .seconds(5) ? .seconds(1) : .milliseconds(50))
            await loop.advanceTime(by: TimeAmount(step))
            await settle()
            left -= step
        }
    }

    /// Lets time pass until a condition holds.
    func advance(atMost limit: Duration, until what: String, _ condition: () async -> Bool) async throws {
        let end = time + limit
        await settle()
        while await !condition() {
            guard time < end else { throw Timeout(description: "not within \(limit) of the test's time: \(what)") }
            await advance(by: .milliseconds(50))
        }
    }

    /// One client's connection. Its mutable state is used on the loop only, except for what a lock protects.
    final class Connection: Wire, WorkerSide, @unchecked Sendable {
        private struct Log {
            var requests: [ClientRequest] = []
            var isOpen = false
            var isPinging = true
        }

        let mayDieSilently = true
        private let loop: any EventLoop
        private weak var owner: (any WireOwner)?
        private let script: Script
        private let readTime: @Sendable () -> Timestamp
        private var unsent: [ClientRequest] = []
        private var isOver = false
        private let log = NIOLockedValueBox(Log())

        fileprivate init(
            on loop: any EventLoop, owner: any WireOwner, script: @escaping Script,
            time: @escaping @Sendable () -> Timestamp
        ) {
            self.loop = loop
            self.owner = owner
            self.script = script
            readTime = time
        }

        var received: [ClientRequest] { log.withLockedValue { $0.requests } }
        var isOpen: Bool { log.withLockedValue { $0.isOpen } }
        var time: Timestamp { readTime() }

        fileprivate func begin(_ listening: Listening) {
            soon { [self] in
                switch listening {
                case .accepts:
                    log.withLockedValue { $0.isOpen = true }
                    owner?.wireOpened(self)
                    keepPinging()
                case .refuses: finish(.notReached(nil))
                case .isSilent: break
                }
            }
        }

        func send(_ request: ClientRequest) { unsent.append(request) }

        func flush() {
            let requests = unsent
            unsent = []
            soon { [self] in
                for request in requests where isOpen {
                    log.withLockedValue { $0.requests.append(request) }
                    script(request, self)
                }
            }
        }

        func close(_ done: @escaping () -> Void) {
            let done = NIOLoopBound(done, eventLoop: loop)
            // Messages sent before are still delivered.
            loop.execute { [self] in
                abort()
                done.value()
            }
        }

        func abort() {
            isOver = true
            log.withLockedValue { $0.isOpen = false }
        }

        func send(_ message: ServerMessage) {
            soon { [self] in
                owner?.wireHeard(self)
                owner?.wireReceived(self, message)
            }
        }

        /// Nothing is delivered from now on, and neither end notices.
        func die() {
            log.withLockedValue {
                $0.isOpen = false
                $0.isPinging = false
            }
        }

        /// Receives a WebSocket ping.
        func ping() { soon { [self] in owner?.wireHeard(self) } }

        private func keepPinging() {
            let connection = NIOLoopBound(self, eventLoop: loop)
            loop.scheduleTask(in: .seconds(10)) {
                let connection = connection.value
                guard !connection.isOver, connection.log.withLockedValue({ $0.isPinging }) else { return }
                connection.owner?.wireHeard(connection)
                connection.keepPinging()
            }
        }

        func close(_ code: CloseCode) { soon { [self] in finish(.closed(code)) } }

        func drop() { soon { [self] in finish(.lost(nil)) } }

        private func finish(_ ending: Ending) {
            abort()
            owner?.wireEnded(self, how: ending)
        }

        private func soon(_ body: @escaping @Sendable () -> Void) {
            loop.execute { [self] in if !isOver { body() } }
        }
    }
}
