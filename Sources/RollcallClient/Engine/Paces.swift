// How fast messages may be sent, and when what was refused is asked for again.

/// How often what a device shows in one conversation may change: four times at once, then once per interval.
struct EntryPace {
    private static let burst = 4.0

    private var left = burst
    private var counted: ContinuousClock.Instant

    init(at now: ContinuousClock.Instant) { counted = now }

    /// When the next change may be sent; `nil` for now.
    func next(every interval: Duration) -> ContinuousClock.Instant? {
        left >= 1 ? nil : counted + interval * (1 - left)
    }

    mutating func taken(at now: ContinuousClock.Instant, every interval: Duration) {
        let regained = interval > .zero ? max(.zero, now - counted) / interval : Self.burst
        (left, counted) = (min(Self.burst, left + regained) - 1, now)
    }
}

/// When to ask again for what was refused: pauses that all share, and that are short again when nothing was refused for a
/// while.
struct Retry {
    private let shortest: Duration
    private let longest: Duration
    private var backoff: Backoff
    private var lastRefusal: ContinuousClock.Instant?
    var deadline: ContinuousClock.Instant?

    init(shortest: Duration, first: Duration, longest: Duration) {
        self.shortest = shortest
        self.longest = shortest + longest
        backoff = Backoff(first: first, longest: longest)
    }

    /// Refusals before the next attempt count as one, but a name that is refused for the first time does not wait long.
    mutating func refused(isFirst: Bool, at now: ContinuousClock.Instant, using random: inout Jitter) {
        if isFirst || lastRefusal.map({ now - $0 > longest * 2 }) ?? true { backoff.reset() }
        lastRefusal = now
        guard isFirst || deadline == nil else { return }
        deadline = earliest(deadline, now + shortest + backoff.failed(using: &random))
    }

    /// - Returns: whether the next attempt begins.
    mutating func isDue(at now: ContinuousClock.Instant) -> Bool {
        guard let deadline, now >= deadline else { return false }
        self.deadline = nil
        return true
    }
}

/// How many messages the client may send now. A worker lets a session wait that sends more. The client uses only three
/// quarters of the allowed burst and nine tenths of the rate, since a network may bunch messages that were sent evenly, and
/// keeps one message for a `ping`.
struct MessageBudget {
    /// Enough for the hello and for what a view needs, until the worker has stated its limits.
    private var perSecond = 10.0
    private var capacity = 30.0
    private var tokens = 30.0
    private var counted: ContinuousClock.Instant
    /// What the message costs that did not fit in this turn; `nil` if all fitted.
    var lacking: Double?

    init(at now: ContinuousClock.Instant) {
        counted = now
    }

    mutating func limitsLearnt(_ limits: ServerMessage.Limits, at now: ContinuousClock.Instant) {
        count(at: now)
        let spent = capacity - tokens
        perSecond = max(1, Double(limits.messageRate) * 0.9)
        capacity = max(2, Double(limits.messageBurst) * 0.75)
        tokens = max(0, capacity - spent)
    }

    mutating func beginTurn(at now: ContinuousClock.Instant) {
        count(at: now)
        lacking = nil
    }

    /// One that costs more than fits is taken once all is regained, and what follows it waits too: many cheap messages
    /// would keep it from being sent at all.
    ///
    /// - Parameter cost: what the message costs.
    mutating func takes(_ cost: Int) -> Bool {
        guard lacking == nil else { return false }
        let needed = min(Double(cost) + 1, capacity)
        guard tokens >= needed else {
            lacking = needed
            return false
        }
        spend(cost)
        return true
    }

    mutating func spend(_ messages: Int) { tokens -= Double(messages) }

    /// When a message fits that did not.
    var nextRoom: ContinuousClock.Instant? {
        lacking.map { counted + .seconds(max(0, $0 - tokens) / perSecond) }
    }

    mutating func count(at now: ContinuousClock.Instant) {
        let elapsed = max(.zero, now - counted)
        tokens = min(capacity, tokens + elapsed / .seconds(1) * perSecond)
        counted = now
    }
}
