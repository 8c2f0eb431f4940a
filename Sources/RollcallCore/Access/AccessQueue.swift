// Which questions a worker asks an app's server about who may join, when, and in which company. A server that is slow, away or
// broken must cost nobody their place, and no user may take the turns of others. Knows no network and no clock.

internal import DequeModule
public import RollcallProtocol

/// The questions of a worker that are not answered yet, each asked once for whoever needs it, and what was denied just now.
public struct AccessQueue {
    /// Why an answer is needed. The first comes first.
    public enum Need: Hashable, Sendable {
        /// An admission was dropped, and who is in the conversation may have to leave.
        case dropped
        case joining
        /// It may wait so long for others, with which it shares a request.
        case renewal(within: Duration)

        fileprivate var rank: Int {
            switch self {
            case .dropped: 0
            case .joining: 1
            case .renewal: 2
            }
        }
    }

    /// What is asked with one request.
    public struct Batch: Sendable {
        public let questions: [AccessQuestion]
        /// When it was sent.
        public let sent: Instant
        fileprivate let kind: Kind
    }

    /// How a request failed.
    public enum Failure: Sendable {
        /// The server takes no requests: it cannot be reached, or says so. When to come again, if it says that.
        case away(retryAfter: Duration?)
        /// This request has no usable answer, perhaps because of one of its questions.
        case unusable
    }

    /// What was answered, for these callers.
    public struct Verdict: Hashable, Sendable {
        public var question: AccessQuestion
        public var answer: AccessAnswer
        /// When it was asked: what was dropped later is not covered.
        public var sent: Instant
        public var callers: Set<Int>
    }

    /// Requests that share the slots: no kind takes those of another.
    fileprivate enum Kind { case ordinary, retried, suspect }

    private enum Place { case sent, dropped, retried, joining, renewal, suspect, waiting }

    private struct Entry {
        var need: Need
        var callers: Set<Int>
        var place: Place
        /// The largest request that it may be in: a tenth each time that one failed.
        var most = AccessQueue.largest
        /// How often it failed alone.
        var failures = 0
    }

    /// The most questions of a request, and the most requests at once.
    public static let largest = 100, mostAtOnce = 4
    /// How long a renewal waits at most for others.
    private static let gathering = Duration.seconds(10)
    /// The longest waits: of a question that fails alone, of which one is under way at a time; of one that the server could not
    /// answer; and what a server may ask for.
    private static let longestAlone = Duration.seconds(5), longestUnanswered = Duration.seconds(300)
    private static let longestRetryAfter = Duration.seconds(60)
    /// Of how many users, and in how many conversations, questions fail alone, without a success between, before it is the server
    /// that fails: no user alone has others wait.
    private static let patience = 3
    private static let mostDenials = 100_000, mostSuspects = 10_000

    private var entries: [AccessQuestion: Entry] = [:]
    private var lines: [Place: Turns] = [:]
    /// Questions of requests that failed, those first that may only be in smaller ones.
    private var retried: Deque<AccessQuestion> = []
    private var waits = Timers<AccessQuestion>()
    private var denials: [AccessQuestion: (answer: AccessAnswer, sent: Instant, ends: Instant)] = [:]

    /// Whose questions failed alone, and where: they are asked one at a time, in one of the requests.
    private var suspectUsers: Set<UserID> = []
    private var suspectConversations: Set<ConversationID> = []
    private var failedAlone: (users: Set<UserID>, conversations: Set<ConversationID>) = ([], [])

    private var size = AccessQueue.largest
    private var atOnce = AccessQueue.mostAtOnce
    private var sent: [Kind: Int] = [:]
    private var pauses = 0
    private var resumes = Instant(nanoseconds: 0)
    private var renewalsDue: Instant?
    private var isTurnOfRenewals = false

    public init() {}

    /// Questions that are not answered.
    public var count: Int { entries.count }
    /// How often this question has failed alone; `nil` if it is not asked.
    public func failures(of question: AccessQuestion) -> Int? { entries[question]?.failures }

    // MARK: Questions

    /// Asks, for a caller. An answer to the same question serves all callers.
    ///
    /// - Returns: what was denied just now; a denial is not asked for again so soon, unless something was dropped.
    public mutating func ask(
        _ question: AccessQuestion, _ need: Need, for caller: Int, at now: Instant
    ) -> Verdict? {
        if need == .joining, let denial = denials[question], now < denial.ends {
            return Verdict(question: question, answer: denial.answer, sent: denial.sent, callers: [caller])
        }
        guard var entry = entries[question] else {
            entries[question] = Entry(need: need, callers: [caller], place: .waiting)
            line(up: question, at: now)
            return nil
        }
        entry.callers.insert(caller)
        let isSooner = need.rank < entry.need.rank
        entry.need = isSooner ? need : entry.need
        entries[question] = entry
        guard isSooner else { return nil }
        switch entry.place {
        case .renewal, .joining: lines[entry.place]?.remove(question)
        case .waiting: waits.forget(question)
        case .sent, .dropped, .retried, .suspect: return nil
        }
        line(up: question, at: now)
        return nil
    }

    /// A caller no longer needs the answer.
    public mutating func withdraw(_ question: AccessQuestion, for caller: Int) {
        entries[question]?.callers.remove(caller)
        guard let entry = entries[question], entry.callers.isEmpty else { return }
        switch entry.place {
        case .sent: return
        case .retried: retried.removeAll { $0 == question }
        case .waiting: waits.forget(question)
        case .dropped, .joining, .renewal, .suspect: lines[entry.place]?.remove(question)
        }
        entries[question] = nil
    }

    private mutating func line(up question: AccessQuestion, at now: Instant) {
        guard let need = entries[question]?.need else { return }
        let place: Place =
            switch need {
            case _ where isSuspect(question): .suspect
            case .dropped: .dropped
            case .joining: .joining
            case .renewal: .renewal
            }
        entries[question]?.place = place
        lines[place, default: Turns()].add(question)
        if case .renewal(let within) = need, place == .renewal {
            let due = now + min(within, Self.gathering)
            renewalsDue = min(renewalsDue ?? due, lines[.renewal]?.count ?? 0 >= Self.largest ? now : due)
        }
    }

    // MARK: Requests

    /// Takes the questions of the next request; `nil` if there is none to send now. To be called again until then.
    public mutating func next(at now: Instant) -> Batch? {
        lastLook = now
        while let question = waits.popDue(at: now) { line(up: question, at: now) }
        guard now >= resumes, sent.values.reduce(0, +) < atOnce else { return nil }
        // After a pause, what never failed goes first: an answer to it shows that the server is back.
        let kinds: [Kind] = atOnce > 1 ? [.suspect, .retried, .ordinary] : [.ordinary, .retried, .suspect]
        for kind in kinds {
            let questions =
                switch kind {
                case .ordinary: nextOrdinary(at: now)
                case .retried: sent[.retried, default: 0] < max(1, atOnce / 2) ? nextRetried(at: now) : []
                case .suspect: sent[.suspect, default: 0] == 0 ? nextSuspect(at: now) : []
                }
            guard !questions.isEmpty else { continue }
            for question in questions { entries[question]?.place = .sent }
            sent[kind, default: 0] += 1
            return Batch(questions: questions, sent: now, kind: kind)
        }
        return nil
    }

    private mutating func nextSuspect(at now: Instant) -> [AccessQuestion] {
        while let question = lines[.suspect]?.next() {
            if isSuspect(question) { return [question] }
            line(up: question, at: now)
        }
        return []
    }

    private mutating func nextRetried(at now: Instant) -> [AccessQuestion] {
        var questions: [AccessQuestion] = []
        var most = size
        while questions.count < most, let first = retried.first, let entry = entries[first] {
            if isSuspect(first) {
                line(up: retried.removeFirst(), at: now)
            } else {
                guard questions.isEmpty || entry.most >= most else { break }
                most = min(most, entry.most)
                questions.append(retried.removeFirst())
            }
        }
        return questions
    }

    private mutating func nextOrdinary(at now: Instant) -> [AccessQuestion] {
        var questions: [AccessQuestion] = []
        take(from: .dropped, into: &questions)
        let areRenewalsDue = renewalsDue.map { $0 <= now } ?? false
        if isTurnOfRenewals, areRenewalsDue { take(from: .renewal, into: &questions) }
        take(from: .joining, into: &questions)
        // What is sent anyway has room for renewals.
        if areRenewalsDue || !questions.isEmpty { take(from: .renewal, into: &questions) }
        if !questions.isEmpty { isTurnOfRenewals.toggle() }
        if lines[.renewal]?.isEmpty != false { renewalsDue = nil }
        return questions
    }

    private mutating func take(from place: Place, into questions: inout [AccessQuestion]) {
        while questions.count < size, let question = lines[place]?.next() { questions.append(question) }
    }

    /// When ``next(at:)`` may have something that it has not now, unless something happens before.
    public var wakes: Instant? {
        guard !entries.isEmpty else { return nil }
        return [resumes, waits.next, renewalsDue].compactMap { $0 }.filter { $0 > lastLook }.min()
    }

    /// The last moment at which requests were taken.
    private var lastLook = Instant(nanoseconds: 0)

    // MARK: Answers

    /// Handles the answers to a request, which may lack some. Those that come again are asked again.
    public mutating func answered(
        _ batch: Batch, _ answers: [AccessQuestion: AccessAnswer], at now: Instant
    ) -> [Verdict] {
        guard !answers.isEmpty else {
            failed(batch, .unusable, at: now, chance: 0.5)
            return []
        }
        ended(batch)
        succeeded(at: now)
        return batch.questions.compactMap { question in
            guard let answer = answers[question] else {
                wait(question, atMost: Self.longestUnanswered, at: now)
                return nil
            }
            suspectUsers.remove(question.user)
            suspectConversations.remove(question.conversation)
            denials[question] = nil
            if case .deny(let time) = answer { note(question, answer, batch.sent, ends: now + time) }
            guard let entry = entries.removeValue(forKey: question), !entry.callers.isEmpty else { return nil }
            return Verdict(question: question, answer: answer, sent: batch.sent, callers: entry.callers)
        }
    }

    /// Handles that a request has no answer.
    ///
    /// - Parameter chance: from 0 to 1, at random.
    public mutating func failed(_ batch: Batch, _ failure: Failure, at now: Instant, chance: Double) {
        ended(batch)
        switch failure {
        case .away(let retryAfter):
            for question in batch.questions.reversed() { retry(question, most: entries[question]?.most ?? 1) }
            pause(retryAfter, at: now, chance: chance)
        case .unusable:
            guard batch.questions.count == 1, let question = batch.questions.first else {
                let most = max(1, batch.questions.count / 10)
                for question in batch.questions.reversed() { retry(question, most: most) }
                return
            }
            suspect(question)
            wait(question, atMost: Self.longestAlone, at: now)
            failedAlone.users.insert(question.user)
            failedAlone.conversations.insert(question.conversation)
            guard min(failedAlone.users.count, failedAlone.conversations.count) >= Self.patience else { return }
            pause(nil, at: now, chance: chance)
        }
    }

    private mutating func ended(_ batch: Batch) {
        sent[batch.kind, default: 0] -= 1
        // Nobody needs these any more.
        for question in batch.questions where entries[question]?.callers.isEmpty == true { entries[question] = nil }
    }

    private mutating func retry(_ question: AccessQuestion, most: Int) {
        guard entries[question] != nil else { return }
        entries[question]?.place = .retried
        entries[question]?.most = most
        retried.prepend(question)
    }

    private func isSuspect(_ question: AccessQuestion) -> Bool {
        suspectUsers.contains(question.user) || suspectConversations.contains(question.conversation)
    }

    private mutating func suspect(_ question: AccessQuestion) {
        if suspectUsers.count >= Self.mostSuspects { (suspectUsers, suspectConversations) = ([], []) }
        suspectUsers.insert(question.user)
        suspectConversations.insert(question.conversation)
    }

    private mutating func wait(_ question: AccessQuestion, atMost longest: Duration, at now: Instant) {
        guard let failures = entries[question]?.failures else { return }
        entries[question]?.failures = failures + 1
        entries[question]?.place = .waiting
        waits.remind(question, at: now + min(.seconds(1 << min(failures, 10)), longest))
    }

    /// Sends nothing for a while: 1, 2, 4, then 5 s, a quarter more or less, or for as long as the server asks. Then one
    /// question at first.
    private mutating func pause(_ retryAfter: Duration?, at now: Instant, chance: Double) {
        // Requests that were under way together fail together.
        guard now >= resumes else { return }
        let time = Duration.milliseconds([1000, 2000, 4000, 5000][min(pauses, 3)]) * (0.75 + chance / 2)
        resumes = now + max(time, min(retryAfter ?? .zero, Self.longestRetryAfter))
        pauses += 1
        (atOnce, size) = (1, 1)
    }

    /// The server answers. If it was away, nothing that failed meanwhile is suspect.
    private mutating func succeeded(at now: Instant) {
        failedAlone = ([], [])
        (atOnce, size) = (min(Self.mostAtOnce, atOnce * 2), min(Self.largest, size * 2))
        guard pauses > 0 else { return }
        (pauses, resumes) = (0, now)
        (suspectUsers, suspectConversations) = ([], [])
        for (question, place) in entries.mapValues(\.place).sorted(by: { $0.key < $1.key })
        where place == .waiting || place == .suspect {
            if place == .waiting { waits.forget(question) } else { lines[.suspect]?.remove(question) }
            entries[question]?.failures = 0
            line(up: question, at: now)
        }
    }

    private mutating func note(
        _ question: AccessQuestion, _ answer: AccessAnswer, _ sent: Instant, ends: Instant
    ) {
        // Forgotten denials are only asked for again.
        if denials.count >= Self.mostDenials { denials = [:] }
        denials[question] = (answer, sent, ends)
    }
}

/// Questions in which users take turns, one question each.
private struct Turns {
    /// The users in their order; each is in `questions`, perhaps with none.
    private var users: Deque<UserID> = []
    private var questions: [UserID: Deque<ConversationID>] = [:]
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func add(_ question: AccessQuestion) {
        if questions[question.user] == nil { users.append(question.user) }
        questions[question.user, default: []].append(question.conversation)
        count += 1
    }

    mutating func next() -> AccessQuestion? {
        while let user = users.popFirst() {
            guard let conversation = questions[user]?.popFirst() else {
                questions[user] = nil
                continue
            }
            if questions[user]?.isEmpty == true { questions[user] = nil } else { users.append(user) }
            count -= 1
            return AccessQuestion(user: user, conversation: conversation)
        }
        return nil
    }

    mutating func remove(_ question: AccessQuestion) {
        guard let index = questions[question.user]?.firstIndex(of: question.conversation) else { return }
        questions[question.user]?.remove(at: index)
        count -= 1
    }
}
