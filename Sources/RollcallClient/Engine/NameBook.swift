// The app's names for users. The app is asked once for each name; names are kept, and shown as soon as they are known.

import NIOCore

/// Caches the names that the app's callback returns. Used on the client's loop only.
final class NameBook {
    /// The number of names up to which none is dropped. Above it, names that are not shown are dropped.
    static let capacity = 4096
    /// How many calls of the callback may run at a time, not counting those that take too long.
    static let concurrency = 8
    /// While calls are running, new names are reported together, at this interval.
    static let interval = Duration.milliseconds(100)

    /// A running call of the app's callback.
    private struct Question {
        let number: SerialNumber
        let task: Task<Void, Never>
        /// When the call starts to count as too long.
        let end: ContinuousClock.Instant
    }

    /// State of a user whose call took too long.
    private struct Delay {
        var backoff = Backoff(first: .seconds(1), longest: .seconds(300))
        /// The last call that took too long. Its result still counts, so it runs until a later call takes too long as
        /// well.
        var task: Task<Void, Never>
        /// When to call again; `nil` once that moment has passed.
        var retry: ContinuousClock.Instant?
    }

    private let resolve: (@Sendable (UserID) async -> String?)?
    private let patience: Duration
    private let loop: any EventLoop
    private let clock: SteadyClock
    private var random: Jitter
    private let shown: () -> Set<UserID>
    private let learnt: (Set<UserID>) -> Void
    /// Names by user. `.some(nil)` means that the app has no name.
    private var known: [UserID: String?] = [:]
    private var waiting = CircularBuffer<UserID>()
    /// The users in `waiting`, and those with a running call.
    private var awaited: Set<UserID> = []
    private var asking: [UserID: Question] = [:]
    private var running: [UserID: RunningCalls] = [:]
    /// Users whose calls took too long, until their names arrive.
    private var delayed: [UserID: Delay] = [:]
    /// Users whose new names were not reported yet.
    private var news: Set<UserID> = []
    private var isClosed = false
    /// The number of entries above which some are dropped: twice as many as were left the last time, so that dropping
    /// costs little per name.
    private var limit = NameBook.capacity
    private lazy var alarm = Alarm(on: loop, by: clock) { [unowned self] in tell() }
    private lazy var lateAlarm = Alarm(on: loop, by: clock) { [unowned self] in endLate() }
    private lazy var retryAlarm = Alarm(on: loop, by: clock) { [unowned self] in retryDue() }

    /// - Parameters:
    ///   - patience: how long a call may take before the next user's call starts in its place.
    ///   - shown: returns all users whose names are shown.
    ///   - learnt: called with the users whose names have arrived.
    init(
        _ resolve: (@Sendable (UserID) async -> String?)?, patience: Duration, on loop: any EventLoop,
        by clock: SteadyClock, jitter: Jitter, shown: @escaping () -> Set<UserID>,
        learnt: @escaping (Set<UserID>) -> Void
    ) {
        self.resolve = resolve
        self.patience = patience
        self.loop = loop
        self.clock = clock
        random = jitter
        self.shown = shown
        self.learnt = learnt
    }

    var isAsking: Bool { !asking.isEmpty }
    var count: Int { known.count + awaited.count + delayed.count }

    /// Returns the app's name if it is known. Otherwise starts a call, and `learnt` is called when it returns.
    func name(of user: UserID) -> String? {
        if let name = known[user] { return name }
        guard resolve != nil, delayed[user]?.retry == nil else { return nil }
        wait(for: user)
        return nil
    }

    private func wait(for user: UserID) {
        guard !isClosed, running[user]?.isFull != true, awaited.insert(user).inserted else { return }
        waiting.append(user)
        ask()
    }

    func close() {
        isClosed = true
        for question in asking.values { question.task.cancel() }
        for delay in delayed.values { delay.task.cancel() }
        (waiting, awaited, asking, delayed, news) = ([], [], [:], [:], [])
        for alarm in [alarm, lateAlarm, retryAlarm] { alarm.set(nil) }
    }

    private func ask() {
        guard let resolve, asking.count < Self.concurrency, let user = waiting.popFirst() else { return }
        let book = NIOLoopBound(self, eventLoop: loop)
        let number = SerialNumber()
        let task = Task {
            let name = await resolve(user)
            let isCancelled = Task.isCancelled
            book.eventLoop.execute { book.value.returned(name, isCancelled: isCancelled, for: user, number) }
        }
        running[user, default: RunningCalls()].began()
        asking[user] = Question(number: number, task: task, end: clock.now + patience)
        awaitAnswers()
    }

    private func awaitAnswers() { lateAlarm.set(asking.values.map(\.end).min()) }

    /// Lets calls that take too long no longer delay the next.
    private func endLate() {
        let now = clock.now
        let late = asking.filter { $0.value.end <= now }
        for (user, question) in late.sorted(by: { $0.key < $1.key }) {
            asking[user] = nil
            awaited.remove(user)
            var delay = delayed[user] ?? Delay(task: question.task)
            if delay.task != question.task { delay.task.cancel() }
            delay.task = question.task
            delay.retry = now + delay.backoff.failed(using: &random)
            delayed[user] = delay
        }
        if count > limit { forget() }
        awaitAnswers()
        awaitRetries()
        for _ in late { ask() }
    }

    private func awaitRetries() { retryAlarm.set(delayed.values.compactMap(\.retry).min()) }

    /// Calls again for users who are shown, after those already waiting. Others wait until they are shown.
    private func retryDue() {
        let (now, shown) = (clock.now, shown())
        let due = delayed.filter { $0.value.retry.map { $0 <= now } ?? false }
        for user in due.keys.sorted() {
            delayed[user]?.retry = nil
            if shown.contains(user) { wait(for: user) }
        }
        awaitRetries()
    }

    private func returned(_ name: String?, isCancelled: Bool, for user: UserID, _ number: SerialNumber) {
        running[user]?.returned()
        if running[user]?.isEmpty == true { running[user] = nil }
        guard !isClosed else { return }
        // A cancelled call may return `nil` only because it was cancelled.
        if name != nil || !isCancelled, answered(name, for: user, number) { return }
        // This call may have prevented another one that was due.
        if shown().contains(user) { _ = self.name(of: user) }
    }

    /// Handles a result. It counts even if it is late, unless an earlier one has arrived.
    ///
    /// - Returns: whether the result counts. If the book has dropped the user, only the name of a user who is shown again
    ///   does.
    private func answered(_ name: String?, for user: UserID, _ number: SerialNumber) -> Bool {
        guard known[user] == nil,
            awaited.contains(user) || delayed[user] != nil || (name != nil && shown().contains(user))
        else { return false }
        if let question = asking.removeValue(forKey: user) {
            if question.number != number { question.task.cancel() }
            awaitAnswers()
        } else if awaited.contains(user) {
            waiting.removeAll { $0 == user }
        }
        awaited.remove(user)
        delayed.removeValue(forKey: user)?.task.cancel()
        known[user] = .some(name)
        if name != nil { news.insert(user) }
        if count > limit { forget() }
        ask()
        if asking.isEmpty {
            tell()
        } else if name != nil, news.count == 1 {
            alarm.set(clock.now + Self.interval)
        }
        return true
    }

    private func tell() {
        alarm.set(nil)
        let users = news
        news = []
        if !users.isEmpty { learnt(users) }
    }

    /// Drops names that are not shown. Shown names are always kept, because they would be requested again at once.
    private func forget() {
        let shown = shown()
        known = known.filter { shown.contains($0.key) }
        waiting.removeAll { !shown.contains($0) }
        awaited = Set(waiting).union(asking.keys)
        for (user, delay) in delayed where !shown.contains(user) {
            delay.task.cancel()
            delayed[user] = nil
        }
        limit = max(Self.capacity, 2 * count)
    }
}
