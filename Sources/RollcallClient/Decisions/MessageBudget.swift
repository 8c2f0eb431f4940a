// A worker closes a session that sends too much (4103), so the client spends less than it is allowed: three quarters
// of the burst and nine tenths of the rate, since a network may bunch what was sent evenly.

/// How many messages may be sent now.
struct MessageBudget {
    private var perSecond: Double
    private var capacity: Double
    private var tokens: Double
    private var counted: ContinuousClock.Instant

    /// A budget for a worker that has not yet said what it allows: enough to say hello and bring a view up to date.
    init(at now: ContinuousClock.Instant) {
        perSecond = 10
        capacity = 20
        tokens = capacity
        counted = now
    }

    mutating func limitsLearnt(_ limits: ServerMessage.Limits, at now: ContinuousClock.Instant) {
        let spent = capacity - available(at: now)
        perSecond = max(1, Double(limits.messageRate) * 0.9)
        capacity = max(1, Double(limits.messageBurst) * 0.75)
        tokens = max(0, capacity - spent)
    }

    mutating func allowance(at now: ContinuousClock.Instant) -> Int {
        Int(available(at: now))
    }

    mutating func spend(_ messages: Int) {
        tokens -= Double(messages)
    }

    /// When there will be room for another message.
    func nextRoom() -> ContinuousClock.Instant {
        counted + .seconds(max(0, 1 - tokens) / perSecond)
    }

    private mutating func available(at now: ContinuousClock.Instant) -> Double {
        let elapsed = max(.zero, now - counted)
        tokens = min(capacity, tokens + elapsed / .seconds(1) * perSecond)
        counted = now
        return tokens
    }
}
