// A worker for the tests of an app: real clients, real decisions, and nothing real beneath them. There is no network, no
// Redis, and no time but what the test lets pass, so that the same test goes the same way each time.

internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOEmbedded
@_exported public import RollcallClient

/// Everything that a ``RollcallClient`` speaks to, in the hands of a test.
///
///     @Test @MainActor func header() async {
///         let worker = FakeWorker()
///         let header = ChatHeader(worker.client(user: "alice"), conversation: "c42")    // the app's own
///         let bob = worker.person("bob", name: "Bob")
///         await bob.types(in: "c42")
///         #expect(header.text == "Bob is typing…")
///         await worker.goesAway()
///         await worker.passes(.seconds(10))
///         #expect(header.text == "")
///     }
///
/// Each `await` returns when everything that follows at once has happened, an app's own tasks on the calling actor
/// included. What takes time, such as debounce, inactivity or a reconnect, happens in ``passes(_:)``. Where an app's code
/// runs elsewhere, ``until(_:)`` waits for it.
public final class FakeWorker: Sendable {
    let loop: NIOAsyncTestingEventLoop
    private let world: NIOLoopBoundBox<World>
    private let clock: SteadyClock
    /// When timers may go off.
    private let appointments = NIOLockedValueBox<Set<ContinuousClock.Instant>>([])
    private let clients = NIOLockedValueBox<[Weak]>([])
    /// The app was asked for something, and was waited for long enough.
    private let isAppWaiting = NIOLockedValueBox(false)

    private struct Weak: Sendable {
        weak var client: RollcallClient?
    }

    /// - Parameter time: the worker's clock at the start.
    public init(at time: Timestamp = Timestamp(milliseconds: 1_784_600_000_000)) {
        let loop = NIOAsyncTestingEventLoop()
        let start = ContinuousClock.now
        clock = SteadyClock {
            start + .nanoseconds(loop.now.uptimeNanoseconds)
        } note: { [appointments] instant in
            appointments.withLockedValue { _ = $0.insert(instant) }
        }
        world = NIOLoopBoundBox.makeBoxSendingValue(World(on: loop, by: clock, at: time), eventLoop: loop)
        self.loop = loop
    }

    /// A client of this worker, as the app under test makes it: it is not connected yet.
    ///
    /// - Parameter token: the app's own callback, where that is what the test is about; the worker takes every token.
    public func client(
        user: UserID, device: DeviceID = "device", options: ClientOptions = ClientOptions(),
        token: (@Sendable () async throws -> String)? = nil
    ) -> RollcallClient {
        let client = RollcallClient(
            device: device, options: options, token: token ?? { user.text }, on: loop, by: clock
        ) { [world] _, loop, owner in
            let wire = FakeWire(of: user, on: loop, owner: owner)
            wire.connect(to: world.value)
            return wire
        }
        clients.withLockedValue { $0.append(Weak(client: client)) }
        return client
    }

    /// Somebody else, whom the test plays.
    public func person(_ user: UserID, name: String? = nil) -> FakePerson {
        FakePerson(user: user, name: name, worker: self)
    }
}

// Time.
extension FakeWorker {
    /// Lets time pass, and happen whatever is due in it, each thing in its moment with all that follows from it.
    public nonisolated(nonsending) func passes(_ time: Duration) async {
        await settles()
        let end = clock.now + time
        while let next = nextAppointment(by: end) {
            await advance(to: next)
            await settles()
        }
        await advance(to: end)
        await settles()
    }

    private nonisolated(nonsending) func advance(to instant: ContinuousClock.Instant) async {
        await loop.advanceTime(by: .nanoseconds(max(0, (instant - clock.now).nanoseconds)))
    }

    /// Forgets those that are over.
    private func nextAppointment(by end: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        let now = clock.now
        return appointments.withLockedValue { appointments in
            appointments = appointments.filter { $0 > now }
            return appointments.min().flatMap { $0 <= end ? $0 : nil }
        }
    }

    /// Lets everything happen that needs no time. Every other call does so by itself; a test calls it after it has done
    /// something to its app or its client.
    ///
    /// A token or a name that the app has been asked for is waited for, ten real seconds, and longer on a machine so busy
    /// that the app had few turns in them. Once it has not come in that time, the app counts as waiting for the test, and ``until(_:)`` tells when it has answered.
    public nonisolated(nonsending) func settles() async {
        let isWaiting = isAppWaiting.withLockedValue { $0 }
        let end = ContinuousClock.now + (isWaiting ? .zero : Self.patience)
        var turnsLeft = isWaiting ? 0 : Self.fewestTurns
        var isSettled = false
        while !isSettled {
            let wasAsked = await isAppAsked
            for _ in 0..<Self.rounds { await everyoneTakesATurn() }
            let isAsked = await isAppAsked
            isSettled = !wasAsked && !isAsked || ContinuousClock.now > end && turnsLeft <= 0
            turnsLeft -= 1
            isAppWaiting.withLockedValue { $0 = isAsked && isSettled }
            if isAsked && !isSettled { try? await Task.sleep(for: .milliseconds(5)) }
        }
    }

    /// Waits until the app has got so far, on whatever threads it does; lets no time pass for its clients.
    ///
    /// - Returns: whether it has, within ten real seconds, or longer on a very busy machine.
    public nonisolated(nonsending) func until(_ condition: () async -> Bool) async -> Bool {
        let end = ContinuousClock.now + Self.patience
        var turnsLeft = Self.fewestTurns
        while await !condition() {
            guard ContinuousClock.now < end || turnsLeft > 0 else { return false }
            turnsLeft -= 1
            await settles()
            try? await Task.sleep(for: .milliseconds(1))
        }
        return true
    }

    /// How often an app's tasks and the clients may answer each other without time passing.
    private static let rounds = 16
    /// How long an app may take over a token or a name before it counts as waiting for the test itself.
    private static let patience = Duration.seconds(10)
    /// So many times, some milliseconds apart, the app must have had its turn in that: where others have all threads for
    /// themselves, ten seconds pass without one.
    private static let fewestTurns = 100

    /// The clients do what they can, and then whatever waits on the caller's actor gets its turn, all that the clients
    /// have told it included: turns are taken in order, and what a client tells goes there directly.
    private nonisolated(nonsending) func everyoneTakesATurn() async {
        await loop.run()
        await Task.yield()
    }

    /// What an app is asked for, it may go and find on any thread.
    private nonisolated(nonsending) var isAppAsked: Bool {
        get async {
            for client in clients.withLockedValue({ $0.compactMap(\.client) }) where await client.isAwaitingItsApp {
                return true
            }
            return false
        }
    }
}

// What happens to connections.
extension FakeWorker {
    /// Every connection is lost, as in a tunnel; the worker can be reached again at once.
    public nonisolated(nonsending) func drops() async { await happens { $0.drop() } }

    /// The worker goes: every connection is lost, and nobody gets a new one before ``comesBack()``.
    public nonisolated(nonsending) func goesAway() async {
        await happens {
            $0.isReachable = false
            $0.drop()
        }
    }

    public nonisolated(nonsending) func comesBack() async { await happens { $0.isReachable = true } }

    /// The worker closes every connection with this code.
    public nonisolated(nonsending) func closes(_ code: CloseCode) async { await happens { $0.close(code) } }

    /// Makes exactly these the conversation's members; nobody else may join it from now on.
    public nonisolated(nonsending) func setMembers(_ members: [UserID: String], of conversation: ConversationID) async {
        await happens { $0.setMembers(members, of: conversation) }
    }
}

// What the worker knows of the clients.
extension FakeWorker {
    /// Everything that clients have said, in order.
    public nonisolated(nonsending) func heard() async -> [ClientMessage] { await ask { $0.heard } }

    /// Who types in a conversation, as somebody sees it who does not.
    public nonisolated(nonsending) func typists(in conversation: ConversationID) async -> [UserID] {
        await ask { $0.typists[conversation, default: []].map(\.user) }
    }

    /// A user's status, as others see it.
    public nonisolated(nonsending) func status(of user: UserID) async -> PresenceStatus {
        await ask { $0.presence(of: user).status }
    }

    nonisolated(nonsending) func happens(_ event: @escaping @Sendable (World) -> Void) async {
        await settles()
        await ask { event($0) }
        await settles()
    }

    private nonisolated(nonsending) func ask<Answer: Sendable>(
        _ question: @escaping @Sendable (World) -> Answer
    ) async -> Answer {
        await settles()
        do {
            return try await loop.executeInContext { [world] in question(world.value) }
        } catch {
            preconditionFailure("a question that throws nothing threw \(error)")
        }
    }
}

extension Duration {
    fileprivate var nanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
}
