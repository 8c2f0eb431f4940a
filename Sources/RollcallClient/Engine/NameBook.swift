// The app's names for people: asked once for each, remembered, and shown as soon as they are known.

import NIOCore

/// Names by the app's resolver. Used on the client's loop only.
final class NameBook {
    /// How many names are kept at least. Beyond it those are forgotten that nothing shows.
    static let capacity = 4096
    /// How many are asked for at once; the next comes when one is answered, or takes too long.
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

    private let resolve: (@Sendable (UserID) async -> String?)?
    private let patience: Duration
    private let loop: any EventLoop
    private let clock: SteadyClock
    private let shown: () -> Set<UserID>
    private let learnt: (Set<UserID>) -> Void
    /// `.some(nil)`: the app has no name for them.
    private var known: [UserID: String?] = [:]
    private var waiting = CircularBuffer<UserID>()
    /// Those in `waiting` and those whom the app is asked for.
    private var awaited: Set<UserID> = []
    private var asking: [UserID: Question] = [:]
    /// Not told yet.
    private var news: Set<UserID> = []
    /// How many may be known and awaited before some are forgotten: twice as many as were shown the last time, so that
    /// forgetting costs little for each name.
    private var limit = NameBook.capacity
    private lazy var alarm = Alarm(on: loop, by: clock) { [unowned self] in tell() }
    private lazy var lateAlarm = Alarm(on: loop, by: clock) { [unowned self] in endLate() }

    /// - Parameters:
    ///   - patience: how long an answer may take before the next name is asked for in its place.
    ///   - shown: everybody whose name is on show.
    ///   - learnt: told whose names have come.
    init(
        _ resolve: (@Sendable (UserID) async -> String?)?, patience: Duration, on loop: any EventLoop,
        by clock: SteadyClock, shown: @escaping () -> Set<UserID>, learnt: @escaping (Set<UserID>) -> Void
    ) {
        self.resolve = resolve
        self.patience = patience
        self.loop = loop
        self.clock = clock
        self.shown = shown
        self.learnt = learnt
    }

    var isAsking: Bool { !asking.isEmpty }
    var count: Int { known.count + awaited.count }

    /// The app's name, if it is known by now; if it is not, `learnt` is called once it is.
    func name(of user: UserID) -> String? {
        if let name = known[user] { return name }
        guard resolve != nil, awaited.insert(user).inserted else { return nil }
        waiting.append(user)
        ask()
        return nil
    }

    func close() {
        for question in asking.values { question.task.cancel() }
        (waiting, awaited, asking, news) = ([], [], [:], [])
        alarm.set(nil)
        lateAlarm.set(nil)
    }

    private func ask() {
        guard let resolve, asking.count < Self.concurrency, let user = waiting.popFirst() else { return }
        let book = NIOLoopBound(self, eventLoop: loop)
        let number = SerialNumber()
        let task = Task {
            let name = await resolve(user)
            book.eventLoop.execute { book.value.answered(name, for: user, number) }
        }
        asking[user] = Question(number: number, task: task, end: clock.now + patience)
        awaitAnswers()
    }

    private func awaitAnswers() { lateAlarm.set(asking.values.map(\.end).min()) }

    /// What takes too long makes room for the next. Those who are on show are asked for again, after all others.
    private func endLate() {
        let (now, shown) = (clock.now, shown())
        let late = asking.filter { $0.value.end <= now }
        for (user, question) in late.sorted(by: { $0.key < $1.key }) {
            question.task.cancel()
            asking[user] = nil
            if shown.contains(user) { waiting.append(user) } else { awaited.remove(user) }
        }
        awaitAnswers()
        for _ in late { ask() }
    }

    private func answered(_ name: String?, for user: UserID, _ number: SerialNumber) {
        guard asking[user]?.number == number else { return }
        asking[user] = nil
        awaitAnswers()
        awaited.remove(user)
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
        limit = max(Self.capacity, 2 * count)
    }
}
