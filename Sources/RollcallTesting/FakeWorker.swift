// A worker for an app's tests. Clients and their decisions are real; network and Redis are replaced. Time passes only
// when the test says so, so a test always runs in the same way.

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
    let world: World
    let time = VirtualTime()
    private let clients = Locked<[Weak]>([])
    private let awaitsApp: Bool
    /// Whether the app has not returned a token or a name although it was waited for long enough.
    private let isAppWaiting: Locked<Bool>

    private struct Weak: Sendable {
        weak var client: RollcallClient?
    }

    /// - Parameter time: the time on the worker's clock at the start of the test.
    public convenience init(at time: Timestamp = Timestamp(milliseconds: 1_784_600_000_000)) {
        self.init(at: time, awaitsApp: true)
    }

    /// - Parameter awaitsApp: false for a test that is about an app that does not answer.
    init(at epoch: Timestamp, awaitsApp: Bool) {
        world = World(time, at: epoch)
        self.awaitsApp = awaitsApp
        isAppWaiting = Locked(!awaitsApp)
    }

    /// Returns a client of this worker, as the app under test would create it. It is not connected yet.
    ///
    /// - Parameter token: the app's own callback, if the test is about it. The worker accepts every token.
    public func client(
        user: UserID, device: DeviceID? = nil, options: ClientOptions = ClientOptions(),
        token: (@Sendable (TokenRequest) async throws -> String)? = nil
    ) -> RollcallClient {
        let client = RollcallClient(
            device: device, options: options, token: TokenSource(token ?? { _ in user.text }), in: time.environment
        ) { [world] in FakeWire(of: user, to: world, owner: $1) }
        clients.withLock { $0.append(Weak(client: client)) }
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
        let end = self.time.now + time
        while let next = self.time.next, next <= end {
            await self.time.advance(to: next)
            await settles()
        }
        await self.time.advance(to: end)
        await settles()
    }

    /// Waits until everything has happened that needs no time. The other methods do so themselves. Call it after the
    /// test has done something to its app or its client.
    ///
    /// If the app was asked for a token or a name, this waits for the answer, at most ten seconds of real time. After
    /// that, the app counts as waiting for the test, and ``until(_:)`` can be used to wait for its answer.
    public nonisolated(nonsending) func settles() async {
        let start = ContinuousClock.now
        let end = start + (isAppWaiting.withLock { $0 } ? .zero : Self.patience)
        var (wasAsked, isAsked) = (false, await isAppAsked)
        repeat {
            if wasAsked { try? await Task.sleep(for: .milliseconds(5)) }
            for _ in 0..<Self.rounds { await everyoneTakesATurn(by: start + Self.patience) }
            (wasAsked, isAsked) = (isAsked, await isAppAsked)
        } while (wasAsked || isAsked) && ContinuousClock.now < end
        isAppWaiting.withLock { $0 = isAsked || !awaitsApp }
    }

    /// Waits until a condition of the app holds, on any thread. No time passes for the app's clients.
    ///
    /// - Returns: whether the condition held within ten seconds of real time.
    public nonisolated(nonsending) func until(_ condition: () async -> Bool) async -> Bool {
        let end = ContinuousClock.now + Self.patience
        while await !condition() {
            guard ContinuousClock.now < end else { return false }
            await settles()
            try? await Task.sleep(for: .milliseconds(1))
        }
        return true
    }

    /// How often the app's tasks and the clients may react to each other without time passing.
    private static let rounds = 16
    private static let patience = Duration.seconds(10)

    /// Runs the clients' queue, and then everything that waits on the caller's actor, and each task of the app that the
    /// clients have answered.
    private nonisolated(nonsending) func everyoneTakesATurn(by end: ContinuousClock.Instant) async {
        await time.perform {}
        repeat { await Task.yield() } while isAppBeingAnswered && ContinuousClock.now < end
    }

    private var isAppBeingAnswered: Bool { clients.withLock { $0.contains { $0.client?.isAnswering ?? false } } }

    /// Whether the app was asked for a token or a name and has not answered. It may answer on any thread.
    private nonisolated(nonsending) var isAppAsked: Bool {
        get async {
            for client in clients.withLock({ $0.compactMap(\.client) }) where await client.isAwaitingItsApp {
                return true
            }
            return false
        }
    }
}

// Connections.
extension FakeWorker {
    /// Ends every connection without a close frame, as in a tunnel. Clients can reconnect at once.
    public nonisolated(nonsending) func drops() async { await happens { $0.endAll(.lost(nil)) } }

    /// Makes the worker unreachable: every connection is lost, and none can be opened before ``comesBack()``.
    public nonisolated(nonsending) func goesAway() async {
        await happens {
            $0.listening = .refuses
            $0.endAll(.lost(nil))
        }
    }

    /// Makes the worker reachable again.
    public nonisolated(nonsending) func comesBack() async { await happens { $0.listening = .accepts } }

    /// Makes the worker answer as one whose Redis is away: what needs Redis is refused (`unavailable`) until
    /// ``becomesAvailable()``. Clients try again, and show what they last knew.
    public nonisolated(nonsending) func becomesUnavailable() async { await happens { $0.isUnavailable = true } }

    /// Ends ``becomesUnavailable()``.
    public nonisolated(nonsending) func becomesAvailable() async { await happens { $0.isUnavailable = false } }

    /// Closes every connection with this code.
    public nonisolated(nonsending) func closes(_ code: CloseCode) async { await happens { $0.endAll(.closed(code)) } }

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
        await ask { $0.typists(in: conversation).map(\.user) }
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
        return await time.perform { [world] in question(world) }
    }
}

/// Another user of a ``FakeWorker``, controlled by the test. Its methods return when the app under test has reacted.
public struct FakePerson: Sendable {
    public let user: UserID
    public let name: String?
    let worker: FakeWorker

    /// Starts to type, and continues until ``stops(in:)``.
    public nonisolated(nonsending) func types(in conversation: ConversationID) async {
        await worker.happens { $0.typed(by: user, named: name, on: nil, true, in: conversation) }
    }

    /// Stops typing.
    public nonisolated(nonsending) func stops(in conversation: ConversationID) async {
        await worker.happens { $0.typed(by: user, named: name, on: nil, false, in: conversation) }
    }

    /// Has a conversation open, and shows this there, until ``exits(_:)``.
    public nonisolated(nonsending) func enters(_ conversation: ConversationID, data: HereData? = nil) async {
        await worker.happens { $0.enters(user, named: name, on: nil, conversation, data) }
    }

    /// No longer has it open.
    public nonisolated(nonsending) func exits(_ conversation: ConversationID) async {
        await worker.happens { $0.exits(user, on: nil, conversation) }
    }

    /// Becomes online.
    public nonisolated(nonsending) func comes() async { await become(.active) }

    /// Becomes away, as if the app stayed open without input.
    public nonisolated(nonsending) func idles() async { await become(.idle) }

    /// Goes offline, last seen now.
    public nonisolated(nonsending) func goes() async { await was(lastSeen: .zero) }

    /// Makes the user offline, last seen this long ago.
    public nonisolated(nonsending) func was(lastSeen ago: Duration) async {
        await worker.happens {
            $0.changed(to: nil, user, on: nil, lastSeen: $0.now.advanced(by: .zero - ago), isShown: true)
        }
    }

    private nonisolated(nonsending) func become(_ state: DeviceState) async {
        await worker.happens { $0.changed(to: state, user, on: nil, lastSeen: $0.now) }
    }
}
