// A worker closes a session that sends too many messages (4103). The client therefore uses only three quarters of the
// allowed burst and nine tenths of the rate, since a network may bunch messages that were sent evenly.

/// How many messages the client may send now.
struct MessageBudget {
    private var perSecond: Double
    private var capacity: Double
    private var tokens: Double
    private var counted: ContinuousClock.Instant

    /// A budget for use before the worker has stated its limits: enough for the hello and for what a view needs.
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
        max(0, Int(available(at: now)))
    }

    /// A message that counts as several may exceed what is left. Then the next message waits until all are regained.
    mutating func spend(_ messages: Int) {
        tokens -= Double(messages)
    }

    /// When another message may be sent.
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
