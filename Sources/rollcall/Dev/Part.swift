// A part of `rollcall dev` that the demo page can crash and start again, to show the effect on the others. An
// unexpected end still ends everything.

/// Something that can be crashed and started again.
protocol Crashable: Sendable {
    /// Whether its process runs and is ready.
    var isUp: Bool { get async }
    /// Ends the process like `kill -9`. No effect while none runs.
    func crash() async
    /// Starts a process in place of a crashed one. No effect while one runs; waits for one that is starting.
    func start() async throws
}

/// A place in the deployment, with one process at a time.
actor Part<Running: Sendable>: Crashable {
    struct Life: Sendable {
        let child: Child
        let running: Running
    }

    private enum State {
        case down
        case starting(done: Eventual<Void>)
        case up(Life)
        /// The scope has ended: no process is started any more.
        case over
    }

    private var state = State.down
    private var last: Running?
    private let begin: @Sendable (_ last: Running?) async throws -> Life
    private nonisolated let lives = AsyncStream<Child>.makeStream()

    /// - Parameter begin: starts a process and waits until it is ready. `last` is the previous process, whose ports the
    ///   new one should use.
    init(_ begin: @escaping @Sendable (_ last: Running?) async throws -> Life) {
        self.begin = begin
    }

    /// Starts the part, does `work`, and stops the process that runs then.
    ///
    /// - Throws: ``PartEnded`` if a process ends unexpectedly, after `work` was cancelled and has ended; otherwise what
    ///   `work` throws.
    func during<Result: Sendable>(
        _ work: @escaping @Sendable (Running, Part) async throws -> Result
    ) async throws -> Result {
        let first = try await begin(nil)
        became(first)
        return try await supervised {
            try await work(first.running, self)
        } by: {
            for await child in self.lives.stream { try await child.endingAsWanted() }
        } end: {
            await self.stop()
        }
    }

    var isUp: Bool { life != nil }

    /// The running process, if there is one.
    var life: Life? {
        if case .up(let life) = state { life } else { nil }
    }

    func crash() async {
        guard let life else { return }
        state = .down
        await life.child.crash()
    }

    func start() async throws {
        while case .starting(let done) = state { await done.value }
        guard case .down = state else { return }
        let done = Eventual<Void>()
        state = .starting(done: done)
        defer { done.settle(()) }
        do {
            became(try await begin(last))
        } catch {
            state = .down
            throw error
        }
    }

    private func became(_ life: Life) {
        state = .up(life)
        last = life.running
        lives.continuation.yield(life.child)
    }

    private func stop() async {
        while case .starting(let done) = state { await done.value }
        let life = life
        state = .over
        lives.continuation.finish()
        await life?.child.stop()
    }
}
