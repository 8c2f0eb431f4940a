// The app's names for people: asked once for each, remembered, and shown as soon as they are known.

import NIOCore

/// Names by the app's resolver. Used on the client's loop only.
final class NameBook {
    /// How many names are kept at least. Beyond it those are forgotten that nothing shows.
    static let capacity = 4096
    /// How many are asked for at once, those aside over whom the app takes too long.
    static let concurrency = 8
    /// While more are asked for, the names that have come are told together, this often.
    static let interval = Duration.milliseconds(100)

    /// What the app is asked for.
    private struct Question {
        let number: SerialNumber
        let task: Task<Void, Never>
        /// From when on the answer takes too long.
        let end: ContinuousClock.Instant
    }

    /// That the app took too long over a name.
    private struct Delay {
        var backoff = Backoff(first: .seconds(1), longest: .seconds(300))
        /// The last call that took too long. Its answer is as good, so it goes on until the next takes too long as well.
        var task: Task<Void, Never>
        /// When to ask again; `nil` from then on.
        var retry: ContinuousClock.Instant?
    }

    private let resolve: (@Sendable (UserID) async -> String?)?
    private let patience: Duration
    private let loop: any EventLoop
    private let clock: SteadyClock
    private var random: Jitter
    private let shown: () -> Set<UserID>
    private let learnt: (Set<UserID>) -> Void
    /// `.some(nil)`: the app has no name for them.
    private var known: [UserID: String?] = [:]
    private var waiting = CircularBuffer<UserID>()
    /// Those in `waiting` and those whom the app is asked for.
    private var awaited: Set<UserID> = []
    private var asking: [UserID: Question] = [:]
    /// Those over whom the app took too long, until their names come.
    private var delayed: [UserID: Delay] = [:]
    /// Not told yet.
    private var news: Set<UserID> = []
    /// How many may be known and awaited before some are forgotten: twice as many as were shown the last time, so that
    /// forgetting costs little for each name.
    private var limit = NameBook.capacity
    private lazy var alarm = Alarm(on: loop, by: clock) { [unowned self] in tell() }
    private lazy var lateAlarm = Alarm(on: loop, by: clock) { [unowned self] in endLate() }
    private lazy var retryAlarm = Alarm(on: loop, by: clock) { [unowned self] in retryDue() }

    /// - Parameters:
    ///   - patience: how long an answer may take before the next name is asked for in its place.
    ///   - shown: everybody whose name is on show.
    ///   - learnt: told whose names have come.
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

    /// The app's name, if it is known by now; if it is not, `learnt` is called once it is.
    func name(of user: UserID) -> String? {
        if let name = known[user] { return name }
        guard resolve != nil, delayed[user]?.retry == nil else { return nil }
        wait(for: user)
        return nil
    }

    private func wait(for user: UserID) {
        guard awaited.insert(user).inserted else { return }
        waiting.append(user)
        ask()
    }

    func close() {
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
            // A call that was cancelled may end for that reason alone, and then says nothing of the name.
            if name == nil, Task.isCancelled { return }
            book.eventLoop.execute { book.value.answered(name, for: user, number) }
        }
        asking[user] = Question(number: number, task: task, end: clock.now + patience)
        awaitAnswers()
    }

    private func awaitAnswers() { lateAlarm.set(asking.values.map(\.end).min()) }

    /// What takes too long makes room for the next.
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

    /// Those who are on show are asked for again, after all others; the rest once they are shown.
    private func retryDue() {
        let (now, shown) = (clock.now, shown())
        let due = delayed.filter { $0.value.retry.map { $0 <= now } ?? false }
        for user in due.keys.sorted() {
            delayed[user]?.retry = nil
            if shown.contains(user) { wait(for: user) }
        }
        awaitRetries()
    }

    /// A name is good however late it comes, for whom none has come yet.
    private func answered(_ name: String?, for user: UserID, _ number: SerialNumber) {
        guard known[user] == nil, awaited.contains(user) || delayed[user] != nil else { return }
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
    }

    private func tell() {
        alarm.set(nil)
        let users = news
        news = []
        if !users.isEmpty { learnt(users) }
    }

    /// Keeps what is on show, be it ever so much: names of it that were forgotten would be asked for again at once.
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
