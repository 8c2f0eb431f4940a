// A worker for an app's tests. Clients and their decisions are real; network and Redis are replaced. Time passes only
// when the test says so, so a test always runs in the same way.

internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOEmbedded
@_exported public import RollcallClient

/// A fake worker that a test controls, with real ``RollcallClient``s.
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
/// Each `async` method returns when all immediate consequences have happened, including tasks of the app on the calling
/// actor. What takes time (debounce, inactivity, reconnects) happens in ``passes(_:)``. If the app's code runs
/// elsewhere, wait with ``until(_:)``.
public final class FakeWorker: Sendable {
    let loop: NIOAsyncTestingEventLoop
    private let world: NIOLoopBoundBox<World>
    private let clock: SteadyClock
    /// The moments for which timers are set.
    private let appointments = NIOLockedValueBox<Set<ContinuousClock.Instant>>([])
    private let clients = NIOLockedValueBox<[Weak]>([])
    /// Whether the app has not returned a token or a name although it was waited for long enough.
    private let isAppWaiting = NIOLockedValueBox(false)

    private struct Weak: Sendable {
        weak var client: RollcallClient?
    }

    /// - Parameter time: the time on the worker's clock at the start of the test.
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

    /// Returns a client of this worker, as the app under test would create it. It is not connected yet.
    ///
    /// - Parameter token: the app's own callback, if the test is about it. The worker accepts every token.
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

    /// Returns another user, controlled by the test.
    public func person(_ user: UserID, name: String? = nil) -> FakePerson {
        FakePerson(user: user, name: name, worker: self)
    }
}

// Time.
extension FakeWorker {
    /// Lets time pass. Timers that expire in it fire one by one, each at its moment, with all their consequences.
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
        await loop.advanceTime(by: TimeAmount(max(.zero, instant - clock.now)))
    }

    /// Returns the next moment for which a timer is set, and drops past ones.
    private func nextAppointment(by end: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        let now = clock.now
        return appointments.withLockedValue { appointments in
            appointments = appointments.filter { $0 > now }
            return appointments.min().flatMap { $0 <= end ? $0 : nil }
        }
    }

    /// Waits until everything has happened that needs no time. The other methods do so themselves. Call it after the
    /// test has done something to its app or its client.
    ///
    /// If the app was asked for a token or a name, this waits for the answer: up to ten seconds of real time, or longer
    /// if the machine is so busy that the app could hardly run. After that, the app counts as waiting for the test, and
    /// ``until(_:)`` can be used to wait for its answer.
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

    /// Waits until a condition of the app holds, on any thread. No time passes for the app's clients.
    ///
    /// - Returns: whether the condition held within ten seconds of real time, or longer on a very busy machine.
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

    /// How often the app's tasks and the clients may react to each other without time passing.
    private static let rounds = 16
    /// How long the app may take to return a token or a name before it counts as waiting for the test itself.
    private static let patience = Duration.seconds(10)
    /// How many rounds, some milliseconds apart, the app must at least have had in that time. On a machine where other
    /// processes use all threads, ten seconds may pass without one.
    private static let fewestTurns = 100

    /// Runs the clients' loop, and then everything that waits on the caller's actor. That includes what the clients
    /// have sent there, since it is queued on that actor directly and in order.
    private nonisolated(nonsending) func everyoneTakesATurn() async {
        await loop.run()
        await Task.yield()
    }

    /// Whether the app was asked for a token or a name and has not answered. It may answer on any thread.
    private nonisolated(nonsending) var isAppAsked: Bool {
        get async {
            for client in clients.withLockedValue({ $0.compactMap(\.client) }) where await client.isAwaitingItsApp {
                return true
            }
            return false
        }
    }
}

// Connections.
extension FakeWorker {
    /// Ends every connection without a close frame, as in a tunnel. Clients can reconnect at once.
    public nonisolated(nonsending) func drops() async { await happens { $0.drop() } }

    /// Makes the worker unreachable: every connection is lost, and none can be opened before ``comesBack()``.
    public nonisolated(nonsending) func goesAway() async {
        await happens {
            $0.isReachable = false
            $0.drop()
        }
    }

    /// Makes the worker reachable again.
    public nonisolated(nonsending) func comesBack() async { await happens { $0.isReachable = true } }

    /// Closes every connection with this code.
    public nonisolated(nonsending) func closes(_ code: CloseCode) async { await happens { $0.close(code) } }

    /// Sets the members of a conversation. From then on, only they may join it.
    public nonisolated(nonsending) func setMembers(_ members: [UserID: String], of conversation: ConversationID) async {
        await happens { $0.setMembers(members, of: conversation) }
    }
}

// What the worker knows of the clients.
extension FakeWorker {
    /// Returns all messages from clients, in the order of arrival.
    public nonisolated(nonsending) func heard() async -> [ClientMessage] { await ask { $0.heard } }

    /// Returns the users who are typing in a conversation, as seen by another user.
    public nonisolated(nonsending) func typists(in conversation: ConversationID) async -> [UserID] {
        await ask { $0.typists[conversation, default: []].map(\.user) }
    }

    /// Returns a user's status, as seen by another user.
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
