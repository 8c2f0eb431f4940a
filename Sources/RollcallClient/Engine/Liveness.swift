// When silence means that a connection is dead.

/// Whether a connection is alive. After two of the worker's ping intervals of silence the client asks, and waits for one.
struct Liveness {
    enum Judgement: Equatable {
        case alive
        /// A ping must be sent, which the worker must answer.
        case ask
        case dead
    }

    /// How long the answer to a ping may take after a reason for doubt.
    static let doubted = Duration.seconds(3)
    /// How long it may take then while other messages arrive.
    static let longestDoubt = Duration.seconds(10)
    /// If a deadline is noticed this much late, the process was suspended (an app in the background, a closed laptop),
    /// and asks once more before it judges.
    static let asleep = Duration.seconds(1)

    private let interval: Duration
    /// How long the answer may take, and since when it is awaited.
    private var patience = Duration.zero
    private var asked: ContinuousClock.Instant?
    private var isAskedAgain = false
    /// When a doubt ends, whatever else arrives.
    private var doubtEnd: ContinuousClock.Instant?
    /// When to call ``deadlinePassed(at:)``.
    private(set) var deadline: ContinuousClock.Instant

    /// Whether the answer to a ping is awaited.
    var isAwaiting: Bool { asked != nil }

    /// - Parameter interval: that of the worker's pings.
    init(interval: Duration, at now: ContinuousClock.Instant) {
        self.interval = interval
        deadline = now + interval * 2
    }

    /// Handles received data. While an answer is awaited, nothing else counts as one, because it may have been sent
    /// before the connection died. But it may delay the answer, which therefore gets more time.
    mutating func heard(at now: ContinuousClock.Instant) {
        guard asked != nil else { return deadline = now + interval * 2 }
        deadline = min(now + patience, doubtEnd ?? now + patience)
    }

    /// Handles the answer to the ping that was sent at this moment.
    mutating func answered(_ ping: ContinuousClock.Instant, at now: ContinuousClock.Instant) {
        if let asked, ping >= asked { (self.asked, doubtEnd) = (nil, nil) }
        heard(at: now)
    }

    /// Handles a reason for doubt: the app is in the foreground again, or the network has changed.
    mutating func doubted(at now: ContinuousClock.Instant) -> Judgement {
        let isFirst = asked == nil
        if isFirst { ask(at: now, again: false) }
        patience = Self.doubted
        doubtEnd = doubtEnd ?? now + Self.longestDoubt
        deadline = min(deadline, now + Self.doubted)
        return isFirst ? .ask : .alive
    }

    mutating func deadlinePassed(at now: ContinuousClock.Instant) -> Judgement {
        guard now >= deadline else { return .alive }
        let isLate = now >= deadline + Self.asleep
        if asked != nil, isAskedAgain || !isLate { return .dead }
        ask(at: now, again: asked != nil)
        return .ask
    }

    private mutating func ask(at now: ContinuousClock.Instant, again: Bool) {
        (asked, isAskedAgain, doubtEnd) = (now, again, nil)
        patience = max(interval, Self.doubted)
        deadline = now + patience
    }
}
