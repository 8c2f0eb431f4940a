// The event loop of a client. Its tasks are events of the agenda, so a client uses the same time as everything else,
// and behaves the same for the same seed.

internal import Dispatch
internal import NIOCore
internal import RollcallCore

/// An event loop in virtual time. There is only one thread, so every caller is on the loop.
final class AgendaLoop: EventLoop, @unchecked Sendable {
    private let agenda: Agenda
    /// Whether its process is gone: nothing runs there any more.
    private(set) var isOver = false
    /// Called after each task on the loop.
    var onTurn: () -> Void = {}

    init(_ agenda: Agenda) {
        self.agenda = agenda
    }

    let inEventLoop = true

    var now: NIODeadline { .uptimeNanoseconds(UInt64(agenda.now.nanoseconds)) }

    /// The time since the start.
    var time: Duration { agenda.now - Instant(nanoseconds: 0) }

    func end() {
        isOver = true
        onTurn = {}
    }

    /// Runs this as a task of the loop, now.
    func turn(_ event: () -> Void) {
        guard !isOver else { return }
        event()
        onTurn()
    }

    func execute(_ task: @escaping @Sendable () -> Void) {
        guard !isOver else { return }
        agenda.soon { [self] in turn(task) }
    }

    func submit<T>(_ task: @escaping @Sendable () throws -> T) -> EventLoopFuture<T> {
        let job = LoopJob(makePromise(of: T.self), task)
        agenda.soon { [self] in turn(job.run) }
        return job.promise.futureResult
    }

    func scheduleTask<T>(deadline: NIODeadline, _ task: @escaping @Sendable () throws -> T) -> Scheduled<T> {
        let job = LoopJob(makePromise(of: T.self), task)
        agenda.at(Instant(nanoseconds: Int64(deadline.uptimeNanoseconds))) { [self] in turn(job.run) }
        return Scheduled(promise: job.promise) { job.cancel() }
    }

    func scheduleTask<T>(in delay: TimeAmount, _ task: @escaping @Sendable () throws -> T) -> Scheduled<T> {
        scheduleTask(deadline: now + delay, task)
    }

    func shutdownGracefully(queue: DispatchQueue, _ callback: @escaping @Sendable ((any Error)?) -> Void) {
        callback(nil)
    }
}

/// A scheduled task whose result can be awaited.
private final class LoopJob<T>: @unchecked Sendable {
    let promise: EventLoopPromise<T>
    private var task: (() throws -> T)?

    init(_ promise: EventLoopPromise<T>, _ task: @escaping () throws -> T) {
        self.promise = promise
        self.task = task
    }

    deinit {
        if task != nil { promise.fail(Forgotten()) }
    }

    struct Forgotten: Error {}

    func run() {
        guard let task else { return }
        self.task = nil
        do { promise.assumeIsolated().succeed(try task()) } catch { promise.fail(error) }
    }

    func cancel() { task = nil }
}
