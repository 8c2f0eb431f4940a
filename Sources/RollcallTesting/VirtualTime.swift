// The clock and the queue of the clients of one fake worker. Time passes only when the test says so, and random numbers are
// the same in each run.

internal import Dispatch
internal import RollcallClient

/// Work that is due now runs on a queue of its own; other work waits until the test has moved the clock there.
final class VirtualTime: Sendable {
    typealias Instant = ContinuousClock.Instant
    typealias Work = Environment.Work

    private struct State {
        var now: Instant
        /// In order of time; what is due at the same time, in order of arrival.
        var waiting: [(at: Instant, id: Int, work: Work)] = []
        var lastID = 0
        /// Timers ring at multiples of this, as a system may align those of an app in the background; `nil` for in time.
        var grid: Duration?
        var seed: UInt64 = 1
    }

    private let queue = DispatchQueue(label: "rollcall.fake-worker")
    private let isOnQueue = DispatchSpecificKey<Bool>()
    private let start: Instant
    private let state: Locked<State>

    init() {
        start = ContinuousClock.now
        state = Locked(State(now: start))
        queue.setSpecific(key: isOnQueue, value: true)
    }

    var now: Instant { state.withLock { $0.now } }
    var sinceStart: Duration { now - start }
    /// When time-dependent work is due next.
    var next: Instant? { state.withLock { $0.waiting.first?.at } }
    var timers: Int { state.withLock { $0.waiting.count } }

    var environment: Environment {
        Environment {
            self.now
        } random: {
            self.random()
        } run: {
            self.soon($0)
        } at: {
            self.at(self.aligned($0), $1)
        }
    }

    var grid: Duration? {
        get { state.withLock { $0.grid } }
        set { state.withLock { $0.grid = newValue } }
    }

    private func aligned(_ instant: Instant) -> Instant {
        guard let grid else { return instant }
        return start + grid * ((instant - start) / grid).rounded(.up)
    }

    func soon(_ work: @escaping Work) {
        if DispatchQueue.getSpecific(key: isOnQueue) ?? false { return _ = at(now, work) }
        queue.async {
            work()
            self.run(until: self.now)
        }
    }

    /// - Returns: a function that cancels the work.
    func at(_ instant: Instant, _ work: @escaping Work) -> () -> Void {
        let id = state.withLock { state in
            state.lastID += 1
            let index = state.waiting.firstIndex { $0.at > instant } ?? state.waiting.endIndex
            state.waiting.insert((instant, state.lastID, work), at: index)
            return state.lastID
        }
        return { self.state.withLock { $0.waiting.removeAll { $0.id == id } } }
    }

    /// Runs `body` on the queue, and then everything that is due.
    nonisolated(nonsending) func perform<Answer: Sendable>(_ body: @escaping @Sendable () -> Answer) async -> Answer {
        await withCheckedContinuation { done in
            queue.async {
                let answer = body()
                self.run(until: self.now)
                done.resume(returning: answer)
            }
        }
    }

    /// Moves the clock, and runs what is due until then, each at its time.
    nonisolated(nonsending) func advance(to end: Instant) async {
        await perform { self.run(until: end) }
    }

    /// Lets the machine sleep: the clock advances, and timers stand still.
    func sleep(for duration: Duration) {
        state.withLock { state in
            state.now += duration
            state.waiting = state.waiting.map { ($0.at + duration, $0.id, $0.work) }
        }
    }

    private func run(until end: Instant) {
        while let work = due(by: end) { work() }
    }

    private func due(by end: Instant) -> Work? {
        state.withLock { state in
            guard let first = state.waiting.first, first.at <= end else {
                state.now = max(state.now, end)
                return nil
            }
            state.now = max(state.now, first.at)
            return state.waiting.removeFirst().work
        }
    }

    /// SplitMix64.
    private func random() -> UInt64 {
        var bits = state.withLock { state in
            state.seed &+= 0x9E37_79B9_7F4A_7C15
            return state.seed
        }
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}
